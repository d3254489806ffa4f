#include "content.hpp"

#include <boost/json.hpp>

#include "kubernetes/json.hpp"

namespace davit::federation {
namespace {

const json::object* meta_of(const json::object& object) {
  return kubernetes::object_in(object, "metadata");
}

json::object fields_of(const Rules& rules, const json::object& object) {
  json::object out;
  for (const std::string& field : rules.fields) {
    if (const json::value* value = member(object, field)) out[field] = *value;
  }
  return out;
}

json::object content(const json::object* labels, json::object annotations, json::object fields) {
  json::object out;
  if (labels != nullptr && !labels->empty()) out["labels"] = *labels;
  if (!annotations.empty()) out["annotations"] = std::move(annotations);
  if (!fields.empty()) out["fields"] = std::move(fields);
  return out;
}

void put_or_erase(json::object& in, std::string_view key, const json::value* value) {
  if (value == nullptr) {
    in.erase(key);
  } else {
    in[key] = *value;
  }
}

}  // namespace

const json::value* member(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string uid_of(const json::object& object) {
  return std::string(kubernetes::text_in(meta_of(object), "uid"));
}

std::string version_of(const json::object& object) {
  return std::string(kubernetes::text_in(meta_of(object), "resourceVersion"));
}

int64_t generation_of(const json::object& object) {
  const json::value* value = kubernetes::value_in(meta_of(object), "generation");
  return value == nullptr ? 0 : kubernetes::as_integer(*value).value_or(0);
}

bool terminating(const json::object& object) {
  return !kubernetes::text_in(meta_of(object), "deletionTimestamp").empty();
}

std::string made_of(const json::object& downstream) {
  return std::string(kubernetes::text_in(kubernetes::object_in(meta_of(downstream), "annotations"),
                                         upstream_uid_key));
}

json::object wanted_of(const Rules& rules, const json::object& upstream) {
  const json::object* meta = meta_of(upstream);
  json::object annotations;
  if (const auto* own = kubernetes::object_in(meta, "annotations")) annotations = *own;
  annotations.erase(remote_version_key);
  annotations[upstream_uid_key] = uid_of(upstream);
  return content(kubernetes::object_in(meta, "labels"), std::move(annotations),
                 fields_of(rules, upstream));
}

json::object content_of(const Rules& rules, const json::object& downstream) {
  const json::object* meta = meta_of(downstream);
  const json::object* annotations = kubernetes::object_in(meta, "annotations");
  return content(kubernetes::object_in(meta, "labels"),
                 annotations == nullptr ? json::object() : *annotations,
                 fields_of(rules, downstream));
}

size_t hash_of(const json::object& content) {
  const size_t hash = std::hash<std::string>()(json::serialize(content));
  return hash == 0 ? 1 : hash;  // 0 is "none"
}

json::object created(const Rules& rules, const json::object& upstream, const json::object& wanted) {
  const json::object* meta = meta_of(upstream);
  json::object out, own;
  for (const char* key : {"apiVersion", "kind"}) put_or_erase(out, key, member(upstream, key));
  for (const char* key : {"name", "namespace"})
    put_or_erase(own, key, kubernetes::value_in(meta, key));
  for (const char* key : {"labels", "annotations"}) put_or_erase(own, key, member(wanted, key));
  out["metadata"] = std::move(own);
  if (const auto* fields = kubernetes::object_in(wanted, "fields")) {
    for (const auto& [key, value] : *fields) out[key] = value;
  }
  const json::value* status = member(upstream, "status");
  if (rules.status != StatusWrite::none && status != nullptr) out["status"] = *status;
  return out;
}

json::object updated(const Rules& rules, const json::object& downstream,
                     const json::object& wanted) {
  json::object out = downstream;
  json::object& meta = kubernetes::object_made(out, "metadata");
  for (const char* key : {"labels", "annotations"}) put_or_erase(meta, key, member(wanted, key));
  const json::object* fields = kubernetes::object_in(wanted, "fields");
  for (const std::string& field : rules.fields)
    put_or_erase(out, field, fields == nullptr ? nullptr : member(*fields, field));
  return out;
}

json::object with_status(const Rules& rules, const json::object& upstream,
                         const json::object& downstream, json::value status) {
  json::object out = upstream;
  out["status"] = std::move(status);
  if (rules.status == StatusWrite::whole) {
    json::object& meta = kubernetes::object_made(out, "metadata");
    kubernetes::object_made(meta, "annotations")[remote_version_key] = version_of(downstream);
  }
  return out;
}

}  // namespace davit::federation

#include "content.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "kubernetes/fingerprint.hpp"
#include "objects.hpp"

namespace davit::federation {
namespace {

// Of an object that is condensed: the fingerprints of its fields. No API server has such a member.
constexpr std::string_view condensed_key = "davit.dev/condensed";

const json::object* meta_of(const json::object& object) {
  return kubernetes::object_in(object, "metadata");
}

std::string annotation_of(const json::object& object, std::string_view key) {
  return std::string(
      kubernetes::text_in(kubernetes::object_in(meta_of(object), "annotations"), key));
}

// By name, the fingerprint of each field that travels.
json::object fields_of(const Rules& rules, const json::object& object) {
  json::object out;
  for (const std::string& field : rules.fields) {
    if (const json::value* value = member(object, field))
      out[field] = kubernetes::fingerprint(*value);
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
  return annotation_of(downstream, upstream_uid_key);
}

std::string origin_of(const json::object& downstream) {
  return annotation_of(downstream, upstream_cluster_key);
}

json::object wanted_of(const Rules& rules, const json::object& upstream) {
  const json::object* meta = meta_of(upstream);
  json::object annotations;
  if (const auto* own = kubernetes::object_in(meta, "annotations")) annotations = *own;
  annotations.erase(remote_version_key);
  annotations[upstream_uid_key] = uid_of(upstream);
  annotations.erase(upstream_cluster_key);
  if (!rules.origin.empty()) annotations[upstream_cluster_key] = rules.origin;
  return content(kubernetes::object_in(meta, "labels"), std::move(annotations),
                 fields_of(rules, upstream));
}

json::object content_of(const Rules& rules, const json::object& downstream) {
  const json::object* meta = meta_of(downstream);
  const json::object* annotations = kubernetes::object_in(meta, "annotations");
  const json::object* condensed = kubernetes::object_in(downstream, condensed_key);
  return content(kubernetes::object_in(meta, "labels"),
                 annotations == nullptr ? json::object() : *annotations,
                 condensed == nullptr ? fields_of(rules, downstream) : *condensed);
}

size_t hash_of(const json::object& content) {
  return std::max<size_t>(kubernetes::fingerprint(content), 1);  // 0 is "none"
}

void condense(const Rules& rules, json::object& downstream) {
  json::object fields = fields_of(rules, downstream);
  for (const std::string& field : rules.fields) downstream.erase(field);
  if (!fields.empty()) downstream[condensed_key] = std::move(fields);
}

json::object created(const Rules& rules, const json::object& upstream, const json::object& wanted) {
  const json::object* meta = meta_of(upstream);
  json::object out, own;
  for (const char* key : {"apiVersion", "kind"}) put_or_erase(out, key, member(upstream, key));
  for (const char* key : {"name", "namespace"})
    put_or_erase(own, key, kubernetes::value_in(meta, key));
  for (const char* key : {"labels", "annotations"}) put_or_erase(own, key, member(wanted, key));
  out["metadata"] = std::move(own);
  for (const std::string& field : rules.fields) put_or_erase(out, field, member(upstream, field));
  const json::value* status = member(upstream, "status");
  if (rules.status != StatusWrite::none && status != nullptr) out["status"] = *status;
  return out;
}

json::object updated(const Rules& rules, const json::object& upstream,
                     const json::object& downstream, const json::object& wanted) {
  json::object out = downstream;
  out.erase(condensed_key);
  if (rules.status == StatusWrite::subresource) out.erase("status");  // it would be ignored
  json::object& meta = kubernetes::object_made(out, "metadata");
  for (const char* key : {"labels", "annotations"}) put_or_erase(meta, key, member(wanted, key));
  for (const std::string& field : rules.fields) put_or_erase(out, field, member(upstream, field));
  return out;
}

json::object with_status(const Rules& rules, const json::object& upstream,
                         const json::object& downstream, json::value status) {
  json::object out = upstream;
  if (rules.status == StatusWrite::whole) {
    json::object& meta = kubernetes::object_made(out, "metadata");
    kubernetes::object_made(meta, "annotations")[remote_version_key] = version_of(downstream);
  } else {
    for (const std::string& field : rules.fields) out.erase(field);
  }
  out["status"] = std::move(status);
  return out;
}

std::string after_status(std::string_view answer, const std::string* cached,
                         const json::object& sent) {
  const json::value parsed = parse_object(answer);
  const json::object& said = parsed.get_object();
  if (kubernetes::text_in(said, "kind") != "PartialObjectMetadata") return std::string(answer);
  json::object object;
  if (cached != nullptr) object = std::move(parse_object(*cached).get_object());
  // The write was based on this version. Another one is of a time after the write.
  if (object.empty() || version_of(object) != version_of(sent)) return {};
  put_or_erase(object, "metadata", member(said, "metadata"));
  put_or_erase(object, "status", member(sent, "status"));
  return json::serialize(object);
}

}  // namespace davit::federation

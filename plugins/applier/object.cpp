#include "object.hpp"

#include <boost/algorithm/string/replace.hpp>
#include <boost/json.hpp>
#include <charconv>

#include "kubernetes/json.hpp"
#include "ownership.hpp"

namespace davit::applier {
namespace {

// A member that is an object, or an empty object.
const json::object& object_or_none(const json::object& object, std::string_view key) {
  static const json::object none;
  const json::object* o = kubernetes::object_in(object, key);
  return o == nullptr ? none : *o;
}

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A key of a JSON pointer without its escapes (RFC 6901): "davit.dev~1hash" is "davit.dev/hash".
std::string unescaped(std::string_view key) {
  std::string out(key);
  boost::replace_all(out, "~1", "/");
  boost::replace_all(out, "~0", "~");
  return out;
}

// Copies what `pointer` names ("/status/podIPs/0/ip", "/status/conditions/*/type") into the other
// value, and creates what is missing there.
void copy_pointer(const json::value& from, json::value& to, std::string_view pointer) {
  if (pointer.empty()) {
    to = from;
    return;
  }
  pointer.remove_prefix(1);
  const size_t end = std::min(pointer.find('/'), pointer.size());
  const std::string key = unescaped(pointer.substr(0, end));
  const std::string_view rest = pointer.substr(end);
  if (const auto* object = from.if_object()) {
    const json::value* next = kubernetes::value_in(object, key);
    if (next == nullptr) return;
    if (!to.is_object()) to = json::object();
    copy_pointer(*next, to.get_object()[key], rest);
  } else if (const auto* array = from.if_array()) {
    const size_t first = key == "*" ? 0 : number_of(key);
    const size_t last = std::min<size_t>(key == "*" ? array->size() : first + 1, array->size());
    for (size_t i = first; i < last; ++i) {
      if (!to.is_array()) to = json::array();
      auto& made = to.get_array();
      while (made.size() <= i) made.emplace_back(json::object());
      copy_pointer((*array)[i], made[i], rest);
    }
  }
}

void keep_only(json::object& object, std::initializer_list<std::string_view> always,
               const std::vector<std::string>& pointers) {
  json::value kept = json::object();
  const json::value whole = std::move(object);
  for (const std::string_view pointer : always) copy_pointer(whole, kept, pointer);
  for (const std::string& pointer : pointers) {
    if (!pointer.empty() && pointer.front() == '/') copy_pointer(whole, kept, pointer);
  }
  object = std::move(kept.get_object());
}

}  // namespace

std::string ObjectName::text() const {
  std::string out = resource.resource;
  if (!resource.group.empty()) out += "." + resource.group;
  return out + " " + (ns.empty() ? "" : ns + "/") + name;
}

cluster::Request ObjectName::request(std::string verb) const {
  cluster::Request out;
  out.verb = std::move(verb);
  out.resource = resource;
  out.ns = ns;
  out.name = name;
  return out;
}

cluster::Request ObjectName::request_compact(std::string verb) const {
  cluster::Request out = request(std::move(verb));
  if (metadata_only(resource.group, resource.resource)) {
    out.headers = {{"Accept",
                    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
                    "application/json"}};
  }
  return out;
}

std::string text_in(const json::object& object, std::string_view key) {
  return std::string(kubernetes::text_in(object, key));
}

Meta meta_of(const json::object& object) {
  Meta out;
  const json::object& metadata = object_or_none(object, "metadata");
  out.name = text_in(metadata, "name");
  out.ns = text_in(metadata, "namespace");
  out.uid = text_in(metadata, "uid");
  out.resource_version = text_in(metadata, "resourceVersion");
  out.terminating = metadata.contains("deletionTimestamp");
  const json::object& labels = object_or_none(metadata, "labels");
  out.region = text_in(labels, stamp::region);
  out.kind = text_in(labels, stamp::kind);
  const json::object& annotations = object_or_none(metadata, "annotations");
  out.id = text_in(annotations, stamp::id);
  out.record = text_in(annotations, stamp::record);
  out.hash = text_in(annotations, stamp::hash);
  out.made_of = {Incarnation(number_of(text_in(annotations, stamp::incarnation))),
                 Version(number_of(text_in(annotations, stamp::version)))};
  return out;
}

std::string label_value(std::string_view text) {
  constexpr size_t label_max = 63;
  bool safe =
      text.size() <= label_max && (text.empty() || (plain(text.front()) && plain(text.back())));
  std::string out;
  for (const char c : text) {
    const bool good = plain(c) || c == '-' || c == '_' || c == '.';
    safe = safe && good;
    if (out.size() < 40) out.push_back(good ? c : '-');
  }
  if (safe) return std::string(text);
  while (!out.empty() && !plain(out.front())) out.erase(out.begin());
  return out + (out.empty() ? "" : "-") + hex(kubernetes::hash_bytes(text, 0));
}

bool metadata_only(std::string_view group, std::string_view resource) {
  return group.empty() && resource == "secrets";
}

void compact(json::object& object, const kind::Resource& as, std::string_view our_manager) {
  if (metadata_only(as.group, as.resource) && !object.contains("values")) {
    // The API server calls what it has cut a PartialObjectMetadata.
    const json::object values = data_set_by(object_or_none(object, "metadata"), our_manager);
    keep_only(object, {"/metadata"}, {});
    object["values"] = values;
  }
  if (!object.contains("kind")) object["kind"] = as.kind;
  if (!object.contains("apiVersion")) {
    object["apiVersion"] = as.group.empty() ? as.version : as.group + "/" + as.version;
  }
  json::value* metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  if (as.role == DAVIT_RESOURCE_OWNED) {
    trim_managers(metadata->get_object(), our_manager);
    return;
  }
  metadata->get_object().erase("managedFields");
  keep_only(object, {"/apiVersion", "/kind", "/metadata"}, as.keep);
}

void forget_metadata(json::object& seen, const kind::Resource& as) {
  keep_only(seen,
            {"/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/metadata/uid",
             "/metadata/resourceVersion", "/metadata/deletionTimestamp"},
            as.keep);
}

uint64_t fingerprint_without_status(std::string_view object) {
  boost::system::error_code bad;
  json::value value = json::parse(json::string_view(object.data(), object.size()), bad);
  if (bad || !value.is_object()) return 0;
  value.get_object().erase("status");
  json::value& metadata = value.get_object()["metadata"];
  if (metadata.is_object()) {
    for (const char* counted : {"resourceVersion", "managedFields"})
      metadata.get_object().erase(counted);
  }
  return fingerprint(value);
}

}  // namespace davit::applier

#include "marks.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>
#include <davit/short_hash.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::manifest::marks {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr size_t kept_of_a_long_name = 40;  // bytes, before the hash

std::string label_of(const std::string& record) {
  if (!label_value_fault(record)) return record;
  std::string out = record.substr(0, kept_of_a_long_name);
  while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
  return out + "-" + short_hash(record);
}

// "Deployment.apps", "ConfigMap".
std::string type_of(std::string_view group, std::string_view kind) {
  std::string out(kind);
  if (!group.empty()) out.append(".").append(group);
  return out;
}

}  // namespace

std::string object_mark(const std::string& ns, const std::string& record, const AllowedKind& as,
                        const std::string& name) {
  return ns + "/" + record + "/" + type_of(as.group, as.kind) + "/" + name;
}

std::string hash_mark(const Wanted& w) {
  std::string text = json::serialize(w.object);
  if (!w.secrets.empty()) text += json::serialize(w.secrets);
  return short_hash(text);
}

void add(json::object& metadata, const Manifest& m, const Wanted& w, const std::string& hash_of_w) {
  object_made(metadata, "labels")[label] = label_of(m.name);
  json::object& annotations = object_made(metadata, "annotations");
  annotations[object] = object_mark(m.ns, m.name, *w.as, w.name);
  annotations[hash] = hash_of_w;
}

std::optional<Named> record_of(const json::value& observed) {
  const std::string_view ns = text_at(observed, "/metadata/namespace");
  const std::string_view name = text_at(observed, "/metadata/name");
  const std::string tail =
      "/" + type_of(group_of(text_at(observed, "/apiVersion")), text_at(observed, "/kind")) + "/" +
      std::string(name);
  std::string_view mark = text_in(object_at(observed, "/metadata/annotations"), object);
  if (ns.empty() || name.empty() || !mark.ends_with(tail)) return std::nullopt;
  mark.remove_suffix(tail.size());
  if (mark.size() <= ns.size() + 1 || !mark.starts_with(ns) || mark[ns.size()] != '/')
    return std::nullopt;
  mark.remove_prefix(ns.size() + 1);
  if (dns_subdomain_fault(mark)) return std::nullopt;
  return Named{"", std::string(ns), std::string(mark)};
}

}  // namespace davit::manifest::marks

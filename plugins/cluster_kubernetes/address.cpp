#include "address.hpp"

#include <algorithm>

#include "percent.hpp"

namespace davit::cluster_kubernetes {
namespace {

// An escaped segment may contain anything, but a server reads these two as steps in the path.
bool is_step(std::string_view segment) {
  return segment == "." || segment == "..";
}

struct Verb {
  std::string_view verb, method, content_type;
  bool needs_name;
};
constexpr Verb verbs[] = {
    {DAVIT_VERB_GET, "GET", "", false},
    {DAVIT_VERB_CREATE, "POST", "application/json", false},
    {DAVIT_VERB_APPLY, "PATCH", "application/apply-patch+yaml", true},  // JSON is YAML
    {DAVIT_VERB_MERGE, "PATCH", "application/merge-patch+json", true},
    {DAVIT_VERB_UPDATE, "PUT", "application/json", true},
    {DAVIT_VERB_DELETE, "DELETE", "application/json", true},
};

Error refused(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text, is_unreserved);
  return out;
}

std::string query_string(const Pairs& query) {
  std::string out;
  for (const auto& [key, value] : query) {
    out += (out.empty() ? "?" : "&") + escaped(key) + "=" + escaped(value);
  }
  return out;
}

Result<std::string> collection_path(const cluster::Resource& r, std::string_view ns) {
  if (r.version.empty() || r.resource.empty())
    return refused("a resource needs a version and a name");
  for (std::string_view segment :
       {std::string_view(r.group), std::string_view(r.version), std::string_view(r.resource), ns}) {
    if (is_step(segment)) return refused("\"" + std::string(segment) + "\" cannot stand in a path");
  }
  std::string path = r.group.empty() ? "/api/" : "/apis/" + escaped(r.group) + "/";
  path += escaped(r.version);
  if (!ns.empty()) path += "/namespaces/" + escaped(ns);
  return path + "/" + escaped(r.resource);
}

Result<Target> address(const cluster::Request& q) {
  const auto* verb = std::find_if(std::begin(verbs), std::end(verbs),
                                  [&](const Verb& v) { return v.verb == q.verb; });
  if (verb == std::end(verbs)) return refused("the verb \"" + q.verb + "\" is unknown");
  auto path = collection_path(q.resource, q.ns);
  if (!path.ok()) return path.error();
  if (q.name.empty() && verb->needs_name)
    return refused("the verb \"" + q.verb + "\" needs a name");
  if (is_step(q.name) || is_step(q.subresource))
    return refused("\"" + q.name + "\" cannot stand in a path");
  // A POST goes to the collection, and the body contains the name. Only a subresource is posted by
  // name.
  const bool to_collection = q.verb == DAVIT_VERB_CREATE && q.subresource.empty();
  if (!q.name.empty() && !to_collection) *path += "/" + escaped(q.name);
  if (!q.subresource.empty()) *path += "/" + escaped(q.subresource);
  *path += query_string(q.query);
  return Target{std::string(verb->method), std::move(*path),
                q.body.empty() ? std::string() : std::string(verb->content_type)};
}

}  // namespace davit::cluster_kubernetes

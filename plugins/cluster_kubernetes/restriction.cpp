#include "restriction.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace davit::cluster_kubernetes {
namespace {

Error denied(std::string message) {
  return {Code::permission_denied, std::move(message)};
}

// Questions about accounts and rights. They are about no object, and everybody may ask them or
// needs a right of his own.
bool is_review(const cluster::Resource& r) {
  return r.group == "authorization.k8s.io" || r.group == "authentication.k8s.io";
}

}  // namespace

bool Restriction::has(const std::string& ns) const {
  return std::find(namespaces_.begin(), namespaces_.end(), ns) != namespaces_.end();
}

std::string Restriction::shown() const {
  std::string out = "this agent is restricted to namespaces (";
  for (const auto& ns : namespaces_) out += (&ns == namespaces_.data() ? "" : ", ") + ns;
  return out + ")";
}

std::string Restriction::cluster_scoped(const std::string& resource) const {
  return resource + " are no objects of a namespace, and " + shown();
}

std::string Restriction::status(int http, const std::string& message) {
  return boost::json::serialize(
      boost::json::object{{"kind", "Status"},
                          {"apiVersion", "v1"},
                          {"status", "Failure"},
                          {"reason", http == 403 ? "Forbidden" : "ServiceUnavailable"},
                          {"message", message},
                          {"code", http}});
}

std::string Restriction::list() const {
  return boost::json::serialize(boost::json::array(namespaces_.begin(), namespaces_.end()));
}

Result<> Restriction::allows(const cluster::Request& q) const {
  if (namespaces_.empty() || is_review(q.resource)) return {};
  if (!q.ns.empty()) {
    if (has(q.ns)) return {};
    return denied("namespace \"" + q.ns + "\" is left alone: " + shown());
  }
  const bool of_namespace = q.resource.group.empty() && q.resource.resource == "namespaces";
  if (of_namespace && q.verb == DAVIT_VERB_CREATE)
    return denied("a namespace cannot be created: " + shown() + ", and they must exist");
  if (of_namespace && !q.name.empty()) {
    if (has(q.name)) return {};
    return denied("namespace \"" + q.name + "\" is left alone: " + shown());
  }
  if (q.name.empty())
    return denied(q.resource.resource + " are not asked for in all namespaces: " + shown());
  return denied(cluster_scoped(q.resource.resource));
}

Result<std::vector<std::string>> Restriction::parts(const cluster::WatchRequest& q) const {
  if (namespaces_.empty()) return std::vector<std::string>{q.ns};
  if (q.resource.group.empty() && q.resource.resource == "namespaces")
    return denied(cluster_scoped("namespaces"));
  if (q.ns.empty()) return namespaces_;
  if (has(q.ns)) return std::vector<std::string>{q.ns};
  return denied("namespace \"" + q.ns + "\" is left alone: " + shown());
}

}  // namespace davit::cluster_kubernetes

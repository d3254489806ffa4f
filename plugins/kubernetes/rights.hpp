// Rights of the agent's account: how the API server is asked whether the account has one
// (SelfSubjectAccessReview), and the ClusterRole or the Roles that grant them. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <davit/cluster.hpp>

namespace davit::kubernetes {

struct Right {
  std::string verb;  // an RBAC verb: "patch"
  std::string group, version, resource;
  bool namespaced = true;     // the resource has objects of namespaces
  std::string ns{};           // where; empty: in all namespaces
  std::string subresource{};  // "status"; empty: the resource itself
  auto operator<=>(const Right&) const = default;
  bool operator==(const Right&) const = default;
  // "replicasets", "robots/status", as a role names it
  std::string in_role() const {
    return subresource.empty() ? resource : resource + "/" + subresource;
  }
  // "replicasets.apps", "robots.example.com/status"
  std::string name() const {
    return resource + (group.empty() ? "" : "." + group) +
           (subresource.empty() ? "" : "/" + subresource);
  }
};

using Verbs = std::vector<std::string>;
// "list, watch"
std::string listed(const Verbs& verbs);

// The ClusterRole of this name that grants the rights in all namespaces, and a Role of this name in
// each namespace for the others, as YAML.
std::string cluster_role(const std::string& name, const std::vector<Right>& rights);

cluster::Request review_of(const Right& right);
// nullopt: the answer is no review.
std::optional<bool> allowed(const cluster::Response& answer);

// "the agent's account may not list, watch replicasets (API group "apps") in all namespaces", or
// ... "in namespace "shop"".
std::string denied(const Verbs& verbs, const std::string& resource, const std::string& group,
                   const std::string& ns = {});

}  // namespace davit::kubernetes

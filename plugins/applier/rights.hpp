// Rights: what the agent's account must be allowed to do for a kind, as the kind's description says
// it, and how the API server is asked whether it is (SelfSubjectAccessReview); and what the cluster
// itself must have. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/kind_needs.hpp>

namespace davit::applier {

// "replicasets.apps".
std::string name_of(const kind::Resource& resource);

struct Right {
  std::string verb;  // of RBAC: "patch"
  std::string group, version, resource;
  auto operator<=>(const Right&) const = default;
  bool operator==(const Right&) const = default;
  // "replicasets.apps"
  std::string name() const { return group.empty() ? resource : resource + "." + group; }
};

// Watched resources are listed and watched; owned ones are read, made, changed and deleted; ensured
// ones are read and made; named objects are read; and what the kind needs besides. In all
// namespaces. In the order of the description.
std::vector<Right> rights_of(const kind::Description& description,
                             const std::vector<kind::Need>& needs = {});
// The ClusterRole that grants them, as YAML.
std::string cluster_role(const std::vector<Right>& rights);

cluster::Request review_of(const Right& right);
// Nothing: that was no answer.
std::optional<bool> allowed(const cluster::Response& answer);

using Verbs = std::vector<std::string>;
// "list, watch"
std::string listed(const Verbs& verbs);
// The verbs that are missing, by resource ("replicasets.apps").
using Missing = std::map<std::string, Verbs>;
void add(Missing& missing, const Right& right);
// The setting that does without these verbs of a resource ("autoscaling = false"); empty: none
// does.
std::string way_out(const std::vector<kind::Need>& needs, const std::string& name,
                    const Verbs& verbs);
// "the agent's account may not list, watch replicasets (API group "apps") in all namespaces: ..."
std::string describe(const std::string& name, const Verbs& verbs, const std::string& setting);

// A resource that the cluster must serve, or an object that it must have.
struct Part {
  std::string group, version, resource;
  std::string name;  // empty: the resource
  auto operator<=>(const Part&) const = default;
  bool operator==(const Part&) const = default;
  // "ciliumnetworkpolicies.cilium.io/v2", "runtimeclasses.node.k8s.io gvisor"
  std::string shown() const;
};
// Of the core group everything is there.
std::vector<Part> parts_of(const kind::Description& description,
                           const std::vector<kind::Need>& needs);
cluster::Request look_for(const Part& part);
// The API server says that there is no such thing. Any other answer says nothing about it.
bool is_missing(const Part& part, const cluster::Response& answer);
std::string describe_missing(const Part& part, const std::vector<kind::Need>& needs);

}  // namespace davit::applier

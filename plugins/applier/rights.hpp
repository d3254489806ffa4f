// Rights: what the agent's account must be allowed to do for a kind, from the kind's description;
// and what the cluster itself must have.
// Access and `davit check` use it. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/kind_needs.hpp>

#include "kubernetes/namespaces.hpp"

namespace davit::applier {

// "replicasets.apps".
std::string name_of(const kind::Resource& resource);

using kubernetes::allowed;
using kubernetes::listed;
using kubernetes::review_of;
using kubernetes::Right;
using kubernetes::Verbs;

// The rights a kind needs in all namespaces, in the order of the description. Watched resources:
// list, watch. Owned: get, create, patch, delete. Ensured: get, create. Objects that the kind
// names: get. Then whatever else the kind says it needs.
std::vector<Right> rights_of(const kind::Description& description,
                             const std::vector<kind::Need>& needs = {});
// The ClusterRole that grants the rights, or the Roles, as YAML.
std::string cluster_role(const std::vector<Right>& rights);

// A resource ("replicasets.apps") in one namespace, or in all.
struct Spot {
  std::string name, ns;
  auto operator<=>(const Spot&) const = default;
  bool operator==(const Spot&) const = default;
  // "replicasets.apps", "replicasets.apps in namespace shop"
  std::string shown() const { return ns.empty() ? name : name + " in namespace " + ns; }
};
// The missing verbs.
using Missing = std::map<Spot, Verbs>;
void add(Missing& missing, const Right& right);
// The setting that makes these verbs of a resource unnecessary ("autoscaling = false"); empty:
// there is none.
std::string way_out(const std::vector<kind::Need>& needs, const std::string& name,
                    const Verbs& verbs);
// "the agent's account may not list, watch replicasets (API group "apps") in all namespaces: ..."
std::string describe(const Spot& spot, const Verbs& verbs, const std::string& setting);

// A resource that the cluster must serve, or an object that it must have.
struct Part {
  std::string group, version, resource;
  std::string name{};      // empty: the resource itself
  bool namespaced = true;  // the resource has objects of namespaces
  auto operator<=>(const Part&) const = default;
  bool operator==(const Part&) const = default;
  // "ciliumnetworkpolicies.cilium.io/v2", "runtimeclasses.node.k8s.io gvisor"
  std::string shown() const;
};
// What the kind needs of the cluster. Resources of the core group are left out: every cluster has
// them.
std::vector<Part> parts_of(const kind::Description& description,
                           const std::vector<kind::Need>& needs);
// `ns`: one in which the resource may be listed; empty: in all.
cluster::Request look_for(const Part& part, const std::string& ns = {});
// True only if the API server says that there is no such thing. Any other answer proves nothing.
bool is_missing(const Part& part, const cluster::Response& answer);
std::string describe_missing(const Part& part, const std::vector<kind::Need>& needs);

}  // namespace davit::applier

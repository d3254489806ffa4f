// The names by which the kind's objects are known in the cluster: labels, annotations, selector.
#pragma once

#include <string>
#include <string_view>

#include "site.hpp"

namespace davit::sentinel::labels {

inline constexpr const char* managed_by = "app.kubernetes.io/managed-by";
inline constexpr const char* component = "app.kubernetes.io/component";
inline constexpr const char* component_sentinel = "sentinel";
inline constexpr const char* component_gossip = "gossip-lan";
inline constexpr const char* component_namespace = "namespace";
inline constexpr const char* zone = "topology.kubernetes.io/zone";
// On pods, by Kubernetes: the last part of the name of the ReplicaSet that made them.
inline constexpr const char* replica_set_hash = "pod-template-hash";
// In the pod template's annotations: which template the live Deployment has.
inline constexpr const char* template_hash = "davit.dev/template-hash";

// What follows the sentinel's name in that of its gossip objects.
inline constexpr std::string_view gossip_suffix = "-gossip-lan";

// "sentinel.id" with the site's prefix.
inline std::string id(const Site& site, const char* name) {
  return site.label_prefix + name;
}

// The objects differ in their component; all have the id.
inline std::string selector(const Site& site) {
  return std::string(managed_by) + "=" + site.managed_by + "," + id(site, "sentinel.id");
}

}  // namespace davit::sentinel::labels

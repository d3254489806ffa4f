// The labels, annotations and the selector by which the kind's objects are known in the cluster.
// Rendering writes them and the readers of observed objects look for them.
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
// A label that Kubernetes puts on pods: the last part of the name of the ReplicaSet that made them.
inline constexpr const char* replica_set_hash = "pod-template-hash";
// An annotation of the pod template: which template the live Deployment has.
inline constexpr const char* template_hash = "davit.dev/template-hash";

// Follows the sentinel's name in the names of its gossip objects.
inline constexpr std::string_view gossip_suffix = "-gossip-lan";

// "sentinel.id" behind the site's prefix.
inline std::string id(const Site& site, const char* name) {
  return site.label_prefix + name;
}

// Selects the objects of all components, because all of them have the id.
inline std::string selector(const Site& site) {
  return std::string(managed_by) + "=" + site.managed_by + "," + id(site, "sentinel.id");
}

}  // namespace davit::sentinel::labels

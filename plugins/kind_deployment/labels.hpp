// The names by which the kind's objects are known in the cluster: labels, annotations, selector.
#pragma once

#include <string>

#include "site.hpp"

namespace davit::deployment::labels {

inline constexpr const char* managed_by = "app.kubernetes.io/managed-by";
inline constexpr const char* component = "app.kubernetes.io/component";
inline constexpr const char* component_deployment = "deployment";
inline constexpr const char* component_sentinel = "sentinel";
inline constexpr const char* component_namespace = "namespace";
inline constexpr const char* zone = "topology.kubernetes.io/zone";
// In a pod template's annotations: the template's own hash, and so that of every pod made from it.
inline constexpr const char* template_hash = "davit.dev/template-hash";
inline constexpr const char* template_hash_of_pod =
    "/metadata/annotations/davit.dev~1template-hash";

// "deployment.id" with the site's prefix.
inline std::string id(const Site& site, const char* name) {
  return site.label_prefix + name;
}

inline std::string selector(const Site& site) {
  return std::string(managed_by) + "=" + site.managed_by + "," + component + "=" +
         component_deployment;
}

}  // namespace davit::deployment::labels

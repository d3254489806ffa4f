// The labels, annotations and the selector by which the kind's objects are known in the cluster.
// Rendering writes them and the readers of observed objects look for them.
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
// An annotation of the pod template: the template's own hash. Every pod that is made from the
// template carries it, too.
inline constexpr const char* template_hash = "davit.dev/template-hash";
inline constexpr const char* template_hash_of_pod =
    "/metadata/annotations/davit.dev~1template-hash";

// "deployment.id" behind the site's prefix.
inline std::string id(const Site& site, const char* name) {
  return site.label_prefix + name;
}

inline std::string selector(const Site& site) {
  return std::string(managed_by) + "=" + site.managed_by + "," + component + "=" +
         component_deployment;
}

}  // namespace davit::deployment::labels

// The labels and annotations by which a kind's objects are known in the cluster. Rendering writes
// them and the readers of observed objects look for them.
#pragma once

#include <string>

#include <boost/json/fwd.hpp>
#include <davit/settings.hpp>

namespace davit::kubernetes {
namespace labels {

inline constexpr const char* managed_by = "app.kubernetes.io/managed-by";
inline constexpr const char* component = "app.kubernetes.io/component";
inline constexpr const char* component_namespace = "namespace";
inline constexpr const char* zone = "topology.kubernetes.io/zone";
// An annotation of the pod template: the template's own hash. Every pod that is made from the
// template carries it, too.
inline constexpr const char* template_hash = "davit.dev/template-hash";
inline constexpr const char* template_hash_of_pod =
    "/metadata/annotations/davit.dev~1template-hash";

// A label of pods and of what selects them: which of the controllers that a workload may have they
// belong to. No label: the ReplicaSet.
inline constexpr const char* controller = "davit.dev/controller";
inline constexpr const char* controller_of_pod = "/metadata/labels/davit.dev~1controller";

}  // namespace labels

// What a site calls its objects.
struct Labels {
  std::string managed_by = "krane";   // value of app.kubernetes.io/managed-by
  std::string prefix = "unkey.com/";  // of "deployment.id" and the other id labels

  // "deployment.id" behind the prefix.
  std::string id(const char* name) const { return prefix + name; }
  // "app.kubernetes.io/managed-by=krane": the first part of a watch's selector.
  std::string selector() const { return std::string(labels::managed_by) + "=" + managed_by; }
  // The same and the component.
  std::string selector(const char* component) const {
    return selector() + "," + labels::component + "=" + component;
  }
  // Writes who manages the object and which component it is behind the labels that are in `to`.
  void add_managed(boost::json::object& to, const char* component) const;
};

// The settings `managed_by` and `label_prefix`. Only for a plugin's constructor, as all settings.
Labels read_labels(const Settings&);

}  // namespace davit::kubernetes

#include "resources.hpp"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <davit/ascii.hpp>

#include "store.hpp"

namespace davit::cluster_memory {
namespace {

struct Row {
  std::string_view group, version, resource, kind;
  bool namespaced, status, label_names;
};
constexpr std::array rows = {
    Row{"", "v1", "namespaces", "Namespace", false, true, true},
    Row{"", "v1", "nodes", "Node", false, true, false},
    Row{"", "v1", "pods", "Pod", true, true, false},
    Row{"", "v1", "services", "Service", true, true, true},
    Row{"", "v1", "configmaps", "ConfigMap", true, false, false},
    Row{"", "v1", "secrets", "Secret", true, false, false},
    Row{"", "v1", "serviceaccounts", "ServiceAccount", true, false, false},
    Row{"", "v1", "events", "Event", true, false, false},
    Row{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, true, false},
    Row{"", "v1", "persistentvolumes", "PersistentVolume", false, true, false},
    Row{"apps", "v1", "replicasets", "ReplicaSet", true, true, false},
    Row{"apps", "v1", "deployments", "Deployment", true, true, false},
    Row{"apps", "v1", "statefulsets", "StatefulSet", true, true, false},
    Row{"apps", "v1", "daemonsets", "DaemonSet", true, true, false},
    Row{"batch", "v1", "jobs", "Job", true, true, false},
    Row{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true, true,
        false},
    Row{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, true, false},
    Row{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true, false, false},
    Row{"networking.k8s.io", "v1", "ingresses", "Ingress", true, true, false},
    Row{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false, false, false},
    Row{"coordination.k8s.io", "v1", "leases", "Lease", true, false, false},
    Row{"rbac.authorization.k8s.io", "v1", "roles", "Role", true, false, false},
    Row{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true, false, false},
    Row{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false, false, false},
    Row{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false,
        false, false},
    Row{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
        false, true, false},
};

ResourceType from(const Row& r) {
  return {std::string(r.group),
          std::string(r.version),
          std::string(r.resource),
          std::string(r.kind),
          r.namespaced,
          true,
          r.status,
          r.label_names};
}

std::string plural(std::string_view kind) {
  std::string out = lower_case(kind);
  if (out.ends_with("y")) {
    out.back() = 'i';
    return out + "es";
  }
  if (out.ends_with("s") || out.ends_with("x") || out.ends_with("ch") || out.ends_with("sh"))
    return out + "es";
  return out + "s";
}

}  // namespace

ResourceType Resources::by_resource(std::string_view group, std::string_view version,
                                    std::string_view resource) const {
  for (const auto& r : rows) {
    if (r.group == group && r.resource == resource) return from(r);
  }
  if (auto it = custom_.find({std::string(group), std::string(resource)}); it != custom_.end())
    return it->second;
  ResourceType out;
  out.group = group;
  out.version = version;
  out.resource = resource;
  return out;
}

ResourceType Resources::by_kind(std::string_view group, std::string_view version,
                                std::string_view kind) const {
  for (const auto& r : rows) {
    if (r.group == group && r.kind == kind) return from(r);
  }
  for (const auto& [key, type] : custom_) {
    if (key.first == group && type.kind == kind) return type;
  }
  ResourceType out;
  out.group = group;
  out.version = version.empty() ? "v1" : version;
  out.resource = plural(kind);
  out.kind = kind;
  return out;
}

void Resources::learn(const boost::json::object& definition) {
  const auto* spec = definition.if_contains("spec");
  const auto* names =
      spec != nullptr && spec->is_object() ? spec->get_object().if_contains("names") : nullptr;
  if (names == nullptr || !names->is_object()) return;
  ResourceType type;
  type.group = string_at(spec->get_object(), {"group"});
  type.resource = string_at(names->get_object(), {"plural"});
  type.kind = string_at(names->get_object(), {"kind"});
  type.namespaced = string_at(spec->get_object(), {"scope"}) != "Cluster";
  const auto* versions = spec->get_object().if_contains("versions");
  if (versions == nullptr || !versions->is_array() || type.resource.empty() || type.kind.empty())
    return;
  for (const auto& v : versions->get_array()) {
    if (!v.is_object()) continue;
    type.version = string_at(v.get_object(), {"name"});
    const auto* sub = v.get_object().if_contains("subresources");
    type.status = sub != nullptr && sub->is_object() && sub->get_object().contains("status");
    break;
  }
  custom_[{type.group, type.resource}] = type;
}

}  // namespace davit::cluster_memory

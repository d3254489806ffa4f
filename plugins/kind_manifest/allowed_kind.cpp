#include "allowed_kind.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <davit/ascii.hpp>
#include <davit/kubernetes/names.hpp>

namespace davit::manifest {
namespace {

using Type = std::pair<std::string_view, std::string_view>;  // group, kind

constexpr Type cluster_scoped[] = {
    {"", "ComponentStatus"},
    {"", "Namespace"},
    {"", "Node"},
    {"", "PersistentVolume"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "APIService"},
    {"certificates.k8s.io", "CertificateSigningRequest"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema"},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"},
    {"networking.k8s.io", "IngressClass"},
    {"networking.k8s.io", "IPAddress"},
    {"networking.k8s.io", "ServiceCIDR"},
    {"node.k8s.io", "RuntimeClass"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"resource.k8s.io", "DeviceClass"},
    {"resource.k8s.io", "ResourceSlice"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"storage.k8s.io", "CSIDriver"},
    {"storage.k8s.io", "CSINode"},
    {"storage.k8s.io", "StorageClass"},
    {"storage.k8s.io", "VolumeAttachment"},
    {"storage.k8s.io", "VolumeAttributesClass"},
};

// The order that Helm and kustomize keep, as far as it is about objects of a namespace. Custom
// resources stand where the empty entry is: behind what they read, and before what may wait for
// them.
constexpr Type order[] = {
    {"", "ResourceQuota"},
    {"", "LimitRange"},
    {"networking.k8s.io", "NetworkPolicy"},
    {"", "ServiceAccount"},
    {"rbac.authorization.k8s.io", "Role"},
    {"rbac.authorization.k8s.io", "RoleBinding"},
    {"", "ConfigMap"},
    {"", "Secret"},
    {"", "PersistentVolumeClaim"},
    {"", "Service"},
    {"", "Endpoints"},
    {"discovery.k8s.io", "EndpointSlice"},
    {"policy", "PodDisruptionBudget"},
    {},
    {"apps", "DaemonSet"},
    {"", "Pod"},
    {"", "ReplicationController"},
    {"apps", "ReplicaSet"},
    {"apps", "Deployment"},
    {"apps", "StatefulSet"},
    {"autoscaling", "HorizontalPodAutoscaler"},
    {"batch", "Job"},
    {"batch", "CronJob"},
    {"networking.k8s.io", "Ingress"},
};

Error bad(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

bool is_kind_name(std::string_view kind) {
  const auto letter = [](char c) {
    return kubernetes::names::lower(c) || kubernetes::names::upper(c);
  };
  return !kind.empty() && kubernetes::names::upper(kind.front()) &&
         std::all_of(kind.begin(), kind.end(),
                     [&](char c) { return letter(c) || kubernetes::names::digit(c); });
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t slash = text.find('/'); slash != text.npos; slash = text.find('/')) {
    out.push_back(text.substr(0, slash));
    text.remove_prefix(slash + 1);
  }
  out.push_back(text);
  return out;
}

}  // namespace

Result<AllowedKind> read_allowed_kind(std::string_view text) {
  const std::string said = "\"" + std::string(text) + "\" ";
  const size_t equals = text.find('=');
  const auto parts = split(text.substr(0, equals));
  if (parts.size() != 2 && parts.size() != 3)
    return bad(said +
               "must be GROUP/VERSION/KIND, such as \"apps/v1/Deployment\", or of the core "
               "group VERSION/KIND, such as \"v1/ConfigMap\"");
  AllowedKind out;
  out.kind = parts.back();
  out.version = parts[parts.size() - 2];
  if (parts.size() == 3) {
    out.group = parts.front();
    if (auto fault = kubernetes::dns_subdomain_fault(out.group))
      return bad(said + "has a group that " + *fault);
  }
  if (auto fault = kubernetes::dns_label_fault(out.version))
    return bad(said + "has a version that " + *fault);
  if (!is_kind_name(out.kind))
    return bad(said + "has a kind that is no name of one, such as \"ConfigMap\"");
  if (is_cluster_scoped(out.group, out.kind))
    return bad(said + "is not of a namespace; a manifest has objects of one namespace only");
  out.resource = equals == text.npos ? resource_of(out.kind) : std::string(text.substr(equals + 1));
  if (auto fault = kubernetes::dns_subdomain_fault(out.resource))
    return bad(said + "has a resource that " + *fault);
  return out;
}

std::string resource_of(std::string_view kind) {
  constexpr std::string_view vowels = "aeiou";
  std::string out = lower_case(kind);
  if (out.ends_with("endpoints")) return out;
  if (out.size() > 1 && out.ends_with('y') && vowels.find(out[out.size() - 2]) == vowels.npos) {
    out.pop_back();
    return out + "ies";
  }
  for (const std::string_view hissing : {"s", "x", "z", "ch", "sh"}) {
    if (out.ends_with(hissing)) return out + "es";
  }
  return out + "s";
}

bool is_cluster_scoped(std::string_view group, std::string_view kind) {
  return std::find(std::begin(cluster_scoped), std::end(cluster_scoped), Type{group, kind}) !=
         std::end(cluster_scoped);
}

int rank_of(std::string_view group, std::string_view kind) {
  auto at = std::find(std::begin(order), std::end(order), Type{group, kind});
  if (at == std::end(order)) at = std::find(std::begin(order), std::end(order), Type{});
  return static_cast<int>(at - std::begin(order));
}

}  // namespace davit::manifest

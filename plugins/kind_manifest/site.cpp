#include "site.hpp"

#include <davit/kubernetes/names.hpp>
#include <davit/settings.hpp>

namespace davit::manifest {
namespace {

std::vector<AllowedKind> read_kinds(const Settings& s) {
  std::vector<AllowedKind> out;
  for (const auto& text : s.strings("kinds")) {
    auto kind = read_allowed_kind(text);
    if (!kind.ok()) {
      s.reject("kinds", kind.error().message);
      continue;
    }
    for (const AllowedKind& other : out) {
      if (other.group == kind->group &&
          (other.kind == kind->kind || other.resource == kind->resource)) {
        s.reject("kinds", "\"" + kind->text() + "\" and \"" + other.text() +
                              "\" are the same resource: keep one of them");
      }
    }
    out.push_back(std::move(*kind));
  }
  if (out.empty()) s.reject("kinds", "must name at least one kind, such as \"v1/ConfigMap\"");
  return out;
}

}  // namespace

std::vector<AllowedKind> usual_kinds() {
  std::vector<AllowedKind> out;
  for (const char* text :
       {"v1/ServiceAccount", "v1/ConfigMap", "v1/PersistentVolumeClaim", "v1/Service",
        "apps/v1/Deployment", "apps/v1/StatefulSet", "apps/v1/DaemonSet", "batch/v1/Job",
        "batch/v1/CronJob", "autoscaling/v2/HorizontalPodAutoscaler",
        "policy/v1/PodDisruptionBudget", "networking.k8s.io/v1/Ingress",
        "networking.k8s.io/v1/NetworkPolicy"})
    out.push_back(*read_allowed_kind(text));
  return out;
}

const AllowedKind* Site::find(std::string_view group, std::string_view kind) const {
  for (const AllowedKind& k : kinds) {
    if (k.group == group && k.kind == kind) return &k;
  }
  return nullptr;
}

Site read_site(const Host& host) {
  const Settings s(host);
  Site site;
  if (s.has("kinds")) site.kinds = read_kinds(s);
  site.namespaces = s.strings("namespaces");
  for (const auto& name : site.namespaces) {
    if (auto fault = kubernetes::dns_label_fault(name)) s.reject("namespaces", *fault);
  }
  site.keyrings = s.strings("keyrings");
  site.ingress_needs_address = s.boolean("ingress_needs_address", site.ingress_needs_address);
  return site;
}

}  // namespace davit::manifest

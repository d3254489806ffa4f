#include "observed.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/objects.hpp"
#include "labels.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// The order of deletion: gossip first and the Deployment last. The objects that the Deployment owns
// are deleted before the cluster would collect them.
const Owned types[] = {
    {0, "", "v1", "services", "Service", {}, {}, false},  // the gossip Service
    {1, "cilium.io", "v2", "ciliumnetworkpolicies", "CiliumNetworkPolicy", {}, {}, false},
    {2, "", "v1", "services", "Service", {}, {}, false},
    {3, "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", {}, {}, false},
    {4, "apps", "v1", "deployments", "Deployment", {}, {}, false},
};

bool is_gossip(const json::value& object) {
  return label(object, labels::component) == labels::component_gossip;
}

// NULL: not an object of this kind.
const Owned* type_of(const json::value& object) {
  for (const auto& type : types) {
    const bool gossip = type.order < 2;
    if (is(object, type.group, type.kind) && is_gossip(object) == gossip) return &type;
  }
  return nullptr;
}

// A resource that the site has turned off is not watched, and its objects are left alone.
bool wants(const Site& site, const Owned& type) {
  const std::string_view kind = type.kind;
  if (kind == "CiliumNetworkPolicy") return site.gossip_policy;
  return kind != "PodDisruptionBudget" || site.disruption_budget;
}

int64_t count_at(const json::value& object, std::string_view pointer) {
  return std::max<int64_t>(0, integer_at(object, pointer).value_or(0));
}

Deployment read_deployment(const json::value& object) {
  Deployment d;
  d.hash = text_in(object_at(object, "/spec/template/metadata/annotations"), labels::template_hash);
  d.seen = is_seen(object);
  const auto* spec = object_at(object, "/spec");
  d.paused = spec != nullptr && spec->contains("paused") && spec->at("paused") == true;
  d.replicas = count_at(object, "/status/replicas");
  d.updated = count_at(object, "/status/updatedReplicas");
  d.available = count_at(object, "/status/availableReplicas");
  if (says(object, "ReplicaFailure", "True")) {
    d.trouble = saying(object, "ReplicaFailure");
  } else if (says(object, "Progressing", "False")) {
    d.trouble = saying(object, "Progressing");
  }
  return d;
}

std::string sentinel_name(const json::value& object) {
  if (is_pod(object)) return std::string(deployment_of(object));
  const auto name = text_at(object, "/metadata/name");
  if (type_of(object) == nullptr) return {};
  if (!is_gossip(object)) return std::string(name);
  if (!name.ends_with(labels::gossip_suffix)) return {};
  return std::string(name.substr(0, name.size() - labels::gossip_suffix.size()));
}

}  // namespace

bool Observed::has(std::string_view kind, std::string_view name) const {
  return std::any_of(owned.begin(), owned.end(), [&](const Owned& o) {
    return o.kind == kind && o.name == name && !o.terminating;
  });
}

Observed read_observed(const json::array& objects, const Site& site) {
  Observed out;
  for (const auto& object : objects) {
    const auto ns = text_at(object, "/metadata/namespace");
    const auto name = text_at(object, "/metadata/name");
    if (ns.empty() || name.empty()) continue;
    if (is_pod(object)) {
      Pod& pod = out.pods.emplace_back(read_pod(object));
      // The Deployment replaces a pod that has ended, so what was wrong with it is over.
      if (!pod.active()) pod.trouble.clear();
    } else if (const auto* type = type_of(object); type != nullptr && wants(site, *type)) {
      if (is(object, "cilium.io", "CiliumNetworkPolicy"))
        out.policy_fault = fault_of_policy(object);
      Owned& o = out.owned.emplace_back(*type);
      o.ns = ns;
      o.name = name;
      o.terminating = is_terminating(object);
      if (is(object, "apps", "Deployment")) out.deployment = read_deployment(object);
    }
  }
  std::stable_sort(out.owned.begin(), out.owned.end(),
                   [](const Owned& a, const Owned& b) { return a.order < b.order; });
  sort_by_name(out.pods);
  return out;
}

Result<Named> attribute(const json::value& object, const Site& site) {
  Named named;
  named.id = label(object, site.labels.id("sentinel.id"));
  named.ns = text_at(object, "/metadata/namespace");
  named.name = sentinel_name(object);
  const bool ours = label(object, labels::managed_by) == site.labels.managed_by;
  if (ours && !named.id.empty() && !named.ns.empty() && !named.name.empty()) return named;
  return Error{Code::not_found, "no sentinel's object"};
}

}  // namespace davit::sentinel

#include "render.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/disruption_budget.hpp"
#include "kubernetes/plan.hpp"
#include "labels.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

struct Renderer {
  const Sentinel& s;
  const Place& place;
  const Site& site;

  json::object metadata(const std::string& name, const char* component) const {
    json::object own{{site.labels.id("workspace.id"), s.workspace_id},
                     {site.labels.id("project.id"), s.project_id},
                     {site.labels.id("app.id"), s.app_id},
                     {site.labels.id("environment.id"), s.environment_id},
                     {site.labels.id("sentinel.id"), s.sentinel_id}};
    site.labels.add_managed(own, component);
    return {{"name", name}, {"namespace", place.ns}, {"labels", std::move(own)}};
  }
  json::object object(const char* version, const char* kind, json::object metadata,
                      json::object spec) const {
    return {{"apiVersion", version},
            {"kind", kind},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
  }
  // The pods of this sentinel.
  json::object own_pods() const { return {{site.labels.id("sentinel.id"), s.sentinel_id}}; }
  // The pods of all sentinels of the environment. They gossip with each other.
  json::object peers() const {
    return {{site.labels.id("environment.id"), s.environment_id},
            {labels::component, labels::component_sentinel}};
  }

  json::object deployment(json::object pod_template) const {
    const std::string hash = template_hash(pod_template);
    pod_template["metadata"].get_object()["annotations"].get_object()[labels::template_hash] = hash;
    // A sentinel carries traffic, so a rollout makes a new pod before it removes an old one.
    json::object spec{
        {"replicas", s.replicas},
        {"selector", {{"matchLabels", own_pods()}}},
        {"strategy",
         {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 0}, {"maxSurge", 1}}}}},
        {"template", std::move(pod_template)}};
    if (site.min_ready_seconds != 0) spec["minReadySeconds"] = site.min_ready_seconds;
    return object("apps/v1", "Deployment", metadata(s.name, labels::component_sentinel),
                  std::move(spec));
  }
  json::object service() const {
    json::object port{{"port", site.port}, {"targetPort", site.port}, {"protocol", "TCP"}};
    return object(
        "v1", "Service", metadata(s.name, labels::component_sentinel),
        {{"type", "ClusterIP"}, {"selector", own_pods()}, {"ports", json::array{std::move(port)}}});
  }
  // One pod at a time may be evicted, but never the only one.
  json::object disruption_budget() const {
    return object(
        "policy/v1", "PodDisruptionBudget", metadata(s.name, labels::component_sentinel),
        budget_spec(s.replicas <= 1 ? DisruptionBudget{"1", ""} : DisruptionBudget{"", "1"},
                    own_pods()));
  }
  json::object gossip_service() const {
    auto port = [&](const char* name, const char* protocol) {
      return json::object{{"name", name},
                          {"port", site.gossip_port},
                          {"targetPort", site.gossip_port},
                          {"protocol", protocol}};
    };
    return object(
        "v1", "Service", metadata(s.gossip_name(), labels::component_gossip),
        {{"type", "ClusterIP"},
         {"clusterIP", "None"},
         {"selector", peers()},
         {"ports", json::array{port("gossip-lan", "TCP"), port("gossip-lan-udp", "UDP")}}});
  }
  json::object gossip_policy() const {
    auto port = [&](const char* protocol) {
      return json::object{{"port", std::to_string(site.gossip_port)}, {"protocol", protocol}};
    };
    json::object rule;
    rule["fromEndpoints"].emplace_array().push_back(json::object{{"matchLabels", peers()}});
    rule["toPorts"].emplace_array().push_back(
        json::object{{"ports", json::array{port("TCP"), port("UDP")}}});
    return object("cilium.io/v2", "CiliumNetworkPolicy",
                  metadata(s.gossip_name(), labels::component_gossip),
                  {{"endpointSelector", {{"matchLabels", peers()}}},
                   {"ingress", json::array{std::move(rule)}}});
  }
};

}  // namespace

json::array render(const Sentinel& s, const Place& place, const Site& site,
                   json::object pod_template) {
  const Renderer r{s, place, site};
  constexpr int deployment = 1;  // its index in the plan
  json::array plan;
  plan.push_back(ensure_namespace(place.ns, site.labels));
  auto add = [&](json::object object) -> json::object& {
    return plan.emplace_back(apply_step(std::move(object))).get_object();
  };
  add(r.deployment(std::move(pod_template)))["replace_on_immutable"] = true;
  add(r.service())["owner"] = deployment;
  if (site.disruption_budget) add(r.disruption_budget())["owner"] = deployment;
  add(r.gossip_service());
  if (site.gossip_policy) add(r.gossip_policy());
  return plan;
}

}  // namespace davit::sentinel

// Renders the pod template of render.hpp: container, environment, probes, placement.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/quantity.hpp>

#include "labels.hpp"
#include "render.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

json::array named(const std::vector<std::string>& names) {
  json::array out;
  for (const auto& name : names) out.push_back(json::object{{"name", name}});
  return out;
}

json::array env_from(const Site& site) {
  json::array out;
  for (const auto& name : site.secrets)
    out.push_back(json::object{{"secretRef", {{"name", name}}}});
  for (const auto& name : site.optional_secrets)
    out.push_back(json::object{{"secretRef", {{"name", name}, {"optional", true}}}});
  return out;
}

// The TOML text of the configuration. The ids come first, because in TOML what follows a table's
// header belongs to the table. A JSON string is a valid TOML string.
std::string config(const Sentinel& s, const Place& place, const Site& site) {
  std::string out;
  auto add = [&](const char* key, const std::string& value) {
    out += key + (" = " + json::serialize(json::string(value)) + "\n");
  };
  add("sentinel_id", s.sentinel_id);
  add("workspace_id", s.workspace_id);
  add("environment_id", s.environment_id);
  if (!site.platform.empty()) add("platform", site.platform);
  add("region", place.region);
  out += "http_port = " + std::to_string(site.port) + "\n";
  return out + site.config;
}

json::object port(const char* name, int64_t number, const char* protocol) {
  return {{"name", name}, {"containerPort", number}, {"protocol", protocol}};
}

json::object probe(const std::string& path, const Site& site, int64_t delay, int64_t period,
                   int64_t timeout, int64_t failures) {
  return {{"httpGet", {{"path", path}, {"port", site.port}, {"scheme", "HTTP"}}},
          {"initialDelaySeconds", delay},
          {"periodSeconds", period},
          {"timeoutSeconds", timeout},
          {"failureThreshold", failures}};
}

json::object resources(const Sentinel& s, const Site& site) {
  const std::string memory = memory_quantity(s.memory_mib);
  const int64_t cpu = std::max<int64_t>(1, s.cpu_millicores / site.cpu_request_divisor);
  return {{"limits", {{"cpu", cpu_quantity(s.cpu_millicores)}, {"memory", memory}}},
          {"requests", {{"cpu", cpu_quantity(cpu)}, {"memory", memory}}}};
}

json::object container(const Sentinel& s, const Place& place, const Site& site) {
  json::object c{{"name", "sentinel"}, {"image", s.image}, {"imagePullPolicy", "IfNotPresent"}};
  if (!site.args.empty()) c["args"] = json::array(site.args.begin(), site.args.end());
  if (json::array from = env_from(site); !from.empty()) c["envFrom"] = std::move(from);
  c["env"].emplace_array().push_back(
      json::object{{"name", site.env_prefix + "CONFIG_DATA"}, {"value", config(s, place, site)}});
  c["ports"] = {port("sentinel", site.port, "TCP"), port("gossip-lan", site.gossip_port, "TCP"),
                port("gossip-lan-udp", site.gossip_port, "UDP"),
                port("metrics", site.metrics_port, "TCP")};
  c["resources"] = resources(s, site);
  // The numbers are Krane's: a failing pod is quickly taken out of traffic and slowly restarted.
  c["livenessProbe"] = probe(site.liveness_path, site, 10, 10, 5, 3);
  c["readinessProbe"] = probe(site.readiness_path, site, 5, 5, 3, 2);
  return c;
}

json::array tolerations(const Site& site) {
  json::array out;
  for (const auto& t : site.tolerations) {
    json::object one;
    auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) one[name] = value;
    };
    add("key", t.key);
    add("operator", t.op);
    add("value", t.value);
    add("effect", t.effect);
    out.push_back(std::move(one));
  }
  return out;
}

json::object pod_spec(const Sentinel& s, const Place& place, const Site& site) {
  json::object spec;
  if (!site.runtime_class.empty()) spec["runtimeClassName"] = site.runtime_class;
  spec["restartPolicy"] = "Always";
  if (!site.image_pull_secrets.empty()) spec["imagePullSecrets"] = named(site.image_pull_secrets);
  if (!site.tolerations.empty()) spec["tolerations"] = tolerations(site);
  spec["topologySpreadConstraints"].emplace_array().push_back(json::object{
      {"maxSkew", 1},
      {"topologyKey", labels::zone},
      {"whenUnsatisfiable", "ScheduleAnyway"},
      {"labelSelector", {{"matchLabels", {{labels::id(site, "sentinel.id"), s.sentinel_id}}}}}});
  spec["containers"].emplace_array().push_back(container(s, place, site));
  return spec;
}

}  // namespace

json::object render_template(const Sentinel& s, const Place& place, const Site& site) {
  json::object own{{labels::id(site, "workspace.id"), s.workspace_id},
                   {labels::id(site, "environment.id"), s.environment_id},
                   {labels::id(site, "sentinel.id"), s.sentinel_id},
                   {labels::managed_by, site.managed_by},
                   {labels::component, labels::component_sentinel}};
  json::object metadata{{"labels", std::move(own)}};
  auto& annotations = metadata["annotations"].emplace_object();
  for (const auto& [key, value] : site.pod_annotations) annotations[key] = value;
  return {{"metadata", std::move(metadata)}, {"spec", pod_spec(s, place, site)}};
}

}  // namespace davit::sentinel

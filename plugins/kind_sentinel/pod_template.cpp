// Renders the pod template of render.hpp: container, environment, probes, placement.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "labels.hpp"
#include "render.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

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

json::object container(const Sentinel& s, const Place& place, const Site& site) {
  json::object c{{"name", "sentinel"}, {"image", s.image}, {"imagePullPolicy", "IfNotPresent"}};
  if (!site.args.empty()) c["args"] = json::array(site.args.begin(), site.args.end());
  if (json::array from = env_from(site); !from.empty()) c["envFrom"] = std::move(from);
  c["env"].emplace_array().push_back(
      json::object{{"name", site.env_prefix + "CONFIG_DATA"}, {"value", config(s, place, site)}});
  c["ports"] = {port("sentinel", site.port, "TCP"), port("gossip-lan", site.gossip_port, "TCP"),
                port("gossip-lan-udp", site.gossip_port, "UDP"),
                port("metrics", site.metrics_port, "TCP")};
  const int64_t cpu = std::max<int64_t>(1, s.cpu_millicores / site.cpu_request_divisor);
  c["resources"] = resources({s.cpu_millicores, s.memory_mib}, {cpu, s.memory_mib});
  // The numbers are Krane's: a failing pod is quickly taken out of traffic and slowly restarted.
  c["livenessProbe"] = probe(site.liveness_path, site, 10, 10, 5, 3);
  c["readinessProbe"] = probe(site.readiness_path, site, 5, 5, 3, 2);
  return c;
}

json::object pod_spec(const Sentinel& s, const Place& place, const Site& site) {
  json::object spec = begin_pod_spec(site.placement);
  add_placement(spec, site.placement, site.labels.id("sentinel.id"), s.sentinel_id);
  spec["containers"].emplace_array().push_back(container(s, place, site));
  return spec;
}

}  // namespace

json::object render_template(const Sentinel& s, const Place& place, const Site& site) {
  json::object own{{site.labels.id("workspace.id"), s.workspace_id},
                   {site.labels.id("environment.id"), s.environment_id},
                   {site.labels.id("sentinel.id"), s.sentinel_id}};
  site.labels.add_managed(own, labels::component_sentinel);
  json::object metadata{{"labels", std::move(own)}};
  auto& annotations = metadata["annotations"].emplace_object();
  for (const auto& [key, value] : site.pod_annotations) annotations[key] = value;
  return {{"metadata", std::move(metadata)}, {"spec", pod_spec(s, place, site)}};
}

}  // namespace davit::sentinel

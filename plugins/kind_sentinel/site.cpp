#include "site.hpp"

#include <davit/kubernetes/names.hpp>

namespace davit::sentinel {
using namespace kubernetes;

namespace {

constexpr int64_t day_seconds = 86'400;

void check(const Settings& s, const Site& site) {
  auto complain = [&](std::string_view key, const std::optional<std::string>& fault) {
    if (fault) s.reject(key, *fault);
  };
  auto path = [&](std::string_view key, const std::string& value) {
    if (!value.starts_with('/')) s.reject(key, "must begin with \"/\"");
  };
  complain("env_prefix", environment_name_fault(site.env_prefix + "X"));
  complain("namespace", dns_label_fault(site.ns));
  for (const auto& name : site.secrets) complain("secrets", dns_subdomain_fault(name));
  for (const auto& name : site.optional_secrets)
    complain("optional_secrets", dns_subdomain_fault(name));
  path("liveness_path", site.liveness_path);
  path("readiness_path", site.readiness_path);
}

}  // namespace

Site read_site(const Host& host) {
  const Settings s(host);
  Site site;
  site.labels = read_labels(s);
  site.placement = read_placement(s, std::move(site.placement));
  site.env_prefix = s.string("env_prefix", site.env_prefix);
  site.ns = s.string("namespace", site.ns);
  if (s.has("pod_annotations")) site.pod_annotations = s.table("pod_annotations").entries();
  site.args = s.strings("args", std::move(site.args));
  site.secrets = s.strings("secrets", std::move(site.secrets));
  site.optional_secrets = s.strings("optional_secrets", std::move(site.optional_secrets));
  site.platform = s.string("platform", site.platform);
  site.liveness_path = s.string("liveness_path", site.liveness_path);
  site.readiness_path = s.string("readiness_path", site.readiness_path);
  site.port = s.integer("port", site.port, 1, 65535);
  site.gossip_port = s.integer("gossip_port", site.gossip_port, 1, 65535);
  site.metrics_port = s.integer("metrics_port", site.metrics_port, 1, 65535);
  site.config = s.string("config", default_config(site.metrics_port));
  site.cpu_request_divisor = s.integer("cpu_request_divisor", site.cpu_request_divisor, 1, 1000);
  site.min_ready_seconds = s.integer("min_ready_s", site.min_ready_seconds, 0, day_seconds);
  site.gossip_policy = s.boolean("gossip_policy", site.gossip_policy);
  site.disruption_budget = s.boolean("disruption_budget", site.disruption_budget);
  site.zero_is_delete = s.boolean("zero_is_delete", site.zero_is_delete);
  check(s, site);
  return site;
}

}  // namespace davit::sentinel

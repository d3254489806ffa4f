#include "site.hpp"

#include <algorithm>

#include <davit/kubernetes/names.hpp>

namespace davit::deployment {
using namespace kubernetes;

namespace {

constexpr int64_t replicas_max = 1'000'000;
constexpr int64_t day_seconds = 86'400;

// The pods name them, too.
void read_pull_secrets(const Settings& settings, Site& site) {
  if (!settings.has("pull_secrets")) return;
  auto& names = site.placement.image_pull_secrets;
  for (const auto& s : settings.tables("pull_secrets")) {
    const PullSecret& one = site.pull_secrets.emplace_back(
        PullSecret{s.string("name"), s.string("ref"), s.string("field", "")});
    const auto fault = dns_subdomain_fault(one.name);
    if (s.has("name") && fault) s.reject("name", *fault);
    if (s.has("ref") && one.ref.empty()) s.reject("ref", "must not be empty");
    if (std::find(names.begin(), names.end(), one.name) != names.end())
      s.reject("name", "is there twice, or in image_pull_secrets, too");
    names.push_back(one.name);
  }
}

void check(const Settings& s, const Site& site) {
  auto complain = [&](std::string_view key, const std::optional<std::string>& fault) {
    if (fault) s.reject(key, *fault);
  };
  complain("sentinel_namespace", dns_label_fault(site.sentinel_namespace));
  complain("cluster_domain", dns_subdomain_fault(site.cluster_domain));
  complain("env_prefix", environment_name_fault(site.env_prefix + "X"));
}

}  // namespace

Site read_site(const Host& host) {
  const Settings s(host);
  Site site;
  site.labels = read_labels(s);
  site.placement = read_placement(s, std::move(site.placement));
  site.env_prefix = s.string("env_prefix", site.env_prefix);
  site.sentinel_namespace = s.string("sentinel_namespace", site.sentinel_namespace);
  site.cluster_domain = s.string("cluster_domain", site.cluster_domain);
  const std::string address = s.string("instance_address", "dns");
  if (address != "dns" && address != "ip")
    s.reject("instance_address", "must be \"dns\" or \"ip\"");
  site.address_is_ip = address == "ip";
  site.inject_label = s.boolean("inject_label", site.inject_label);
  site.hide_kubernetes = s.boolean("hide_kubernetes", site.hide_kubernetes);
  site.default_port = s.integer("default_port", site.default_port, 1, 65535);
  site.request_divisor = s.integer("request_divisor", site.request_divisor, 1, 1000);
  site.min_ready_seconds = s.integer("min_ready_s", site.min_ready_seconds, 0, day_seconds);
  site.max_unavailable = s.integer("max_unavailable", site.max_unavailable, 1, replicas_max);
  site.replace_after_seconds =
      s.integer("replace_after_s", site.replace_after_seconds, 0, day_seconds);
  site.autoscaling = s.boolean("autoscaling", site.autoscaling);
  site.replace_stale = s.boolean("replace_stale", site.replace_stale);
  site.zero_is_delete = s.boolean("zero_is_delete", site.zero_is_delete);
  site.absent_replicas_is_zero = s.boolean("absent_replicas_is_zero", site.absent_replicas_is_zero);
  const std::string secrets_as = s.string("secrets_as", "encrypted_env");
  if (secrets_as != "encrypted_env" && secrets_as != "secret")
    s.reject("secrets_as", "must be \"encrypted_env\" or \"secret\"");
  site.decrypts_secrets = secrets_as == "secret";
  read_pull_secrets(s, site);
  if (s.has("pod")) site.pod = read_pod_settings(s.table("pod"), site.labels);
  check(s, site);
  return site;
}

}  // namespace davit::deployment

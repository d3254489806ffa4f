#include "site.hpp"

#include <davit/kubernetes/names.hpp>

namespace davit::deployment {
using namespace kubernetes;

namespace {

constexpr int64_t replicas_max = 1'000'000;
constexpr int64_t day_seconds = 86'400;

void check(const Settings& s, const Site& site) {
  auto complain = [&](std::string_view key, const std::optional<std::string>& fault) {
    if (fault) s.reject(key, *fault);
  };
  complain("label_prefix", label_prefix_fault(site.label_prefix));
  if (site.managed_by.empty()) s.reject("managed_by", "must not be empty");
  complain("managed_by", label_value_fault(site.managed_by));
  complain("sentinel_namespace", dns_label_fault(site.sentinel_namespace));
  complain("cluster_domain", dns_subdomain_fault(site.cluster_domain));
  if (!site.runtime_class.empty())
    complain("runtime_class", dns_subdomain_fault(site.runtime_class));
  complain("env_prefix", environment_name_fault(site.env_prefix + "X"));
  for (const auto& name : site.image_pull_secrets)
    complain("image_pull_secrets", dns_subdomain_fault(name));
}

}  // namespace

Site read_site(const Host& host) {
  const Settings s(host);
  Site site;
  site.managed_by = s.string("managed_by", site.managed_by);
  site.label_prefix = s.string("label_prefix", site.label_prefix);
  site.env_prefix = s.string("env_prefix", site.env_prefix);
  site.runtime_class = s.string("runtime_class", site.runtime_class);
  site.tolerations = read_tolerations(s, "tolerations", std::move(site.tolerations));
  site.image_pull_secrets = s.strings("image_pull_secrets");
  site.sentinel_namespace = s.string("sentinel_namespace", site.sentinel_namespace);
  site.cluster_domain = s.string("cluster_domain", site.cluster_domain);
  const std::string address = s.string("instance_address", "dns");
  if (address != "dns" && address != "ip")
    s.reject("instance_address", "must be \"dns\" or \"ip\"");
  site.address_is_ip = address == "ip";
  site.inject_label = s.boolean("inject_label", site.inject_label);
  site.hide_kubernetes = s.boolean("hide_kubernetes", site.hide_kubernetes);
  site.mount_service_account_token =
      s.boolean("mount_service_account_token", site.mount_service_account_token);
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
  check(s, site);
  return site;
}

}  // namespace davit::deployment

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

// Without the table there are no budgets. An empty one allows those of records.
void read_budget(const Settings& settings, Site& site) {
  site.disruption_budgets = settings.has("disruption_budget");
  if (!site.disruption_budgets) return;
  const Settings s = settings.table("disruption_budget");
  auto& [least, most] = site.disruption_budget;
  for (const auto& [key, bound] :
       {std::pair("min_available", &least), std::pair("max_unavailable", &most)}) {
    *bound = s.string(key, "");
    if (bound->empty()) continue;
    if (auto fault = bound_fault(*bound)) s.reject(key, *fault);
  }
  if (!least.empty() && !most.empty())
    s.reject("max_unavailable", "must not be set beside min_available");
}

void read_controllers(const Settings& s, Site& site) {
  if (!s.has("controllers")) return;
  site.controllers.clear();
  for (const auto& word : s.strings("controllers")) {
    const auto controller = controller_of_word(word);
    if (!controller)
      s.reject("controllers", controllers_fault(word));
    else if (site.allows(*controller))
      s.reject("controllers", "has \"" + word + "\" twice");
    else
      site.controllers.push_back(*controller);
  }
  if (site.controllers.empty()) {
    s.reject("controllers", "must name at least one");
    site.controllers = {Controller::replica_set};
  }
}

void check(const Settings& s, const Site& site) {
  auto complain = [&](std::string_view key, const std::optional<std::string>& fault) {
    if (fault) s.reject(key, *fault);
  };
  if (site.max_unavailable == 0 && site.max_surge == 0)
    s.reject("max_unavailable", "must be at least 1 without max_surge");
  complain("sentinel_namespace", dns_label_fault(site.sentinel_namespace));
  complain("cluster_domain", dns_subdomain_fault(site.cluster_domain));
  if (!site.replace_stale && site.allows(Controller::deployment))
    s.reject("replace_stale",
             "must be true with \"deployment\" in controllers: Kubernetes replaces "
             "the pods of a Deployment itself");
  complain("env_prefix", environment_name_fault(site.env_prefix + "X"));
}

}  // namespace

bool Site::allows(Controller controller) const {
  return std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
}

Site read_site(const Host& host) {
  const Settings s(host);
  Site site;
  site.labels = read_labels(s);
  site.placement = read_placement(s, std::move(site.placement));
  read_controllers(s, site);
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
  site.max_unavailable = s.integer("max_unavailable", site.max_unavailable, 0, replicas_max);
  site.max_surge = s.integer("max_surge", site.max_surge, 0, replicas_max);
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
  read_budget(s, site);
  if (s.has("pod")) site.pod = read_pod_settings(s.table("pod"), site.labels);
  check(s, site);
  return site;
}

}  // namespace davit::deployment

// The plugin: hands each call of the kind role to the part that decides it. Its only state is its
// settings.
#include <boost/json/value.hpp>
#include <davit/kind_needs.hpp>

#include "ctrl_apply.hpp"
#include "ctrl_report.hpp"
#include "deployment_descriptors.h"
#include "kubernetes/fields.hpp"
#include "labels.hpp"
#include "observed.hpp"
#include "reconcile.hpp"
#include "site.hpp"
#include "workload.hpp"

namespace davit::deployment {
namespace {

kind::Description describe(const Site& site) {
  kind::Description d;
  d.kind = "deployment";
  d.apply_type = "ctrl.v1.ApplyDeployment";
  d.descriptor_set = deployment_descriptors();
  d.json_fields = {"ctrl.v1.ApplyDeployment.healthcheck",
                   "ctrl.v1.ApplyDeployment.encrypted_environment_variables",
                   "ctrl.v1.PodSettings.affinity"};
  const std::string selector = site.labels.selector(labels::component_deployment);
  const kind::Resource autoscalers{
      DAVIT_RESOURCE_OWNED,      "autoscaling", "v2",     "horizontalpodautoscalers",
      "HorizontalPodAutoscaler", true,          selector, {}};
  const auto owned = [&](const char* resource, const char* kind, const char* group = "") {
    d.resources.push_back({DAVIT_RESOURCE_OWNED, group, "v1", resource, kind, true, selector, {}});
  };
  d.resources = {{DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}}};
  for (const Controller c : site.controllers) owned(resource_of(c), kind_of(c), "apps");
  auto kept = kubernetes::kept_of_replaced_pods();
  if (site.allows(Controller::stateful_set)) kept.emplace_back(kubernetes::kept_of_controlled_pods);
  d.resources.push_back({DAVIT_RESOURCE_SEEN, "", "v1", "pods", "Pod", true, selector, kept});
  // What the site does not use is not watched: an account that may not watch it would stay blind
  // for the kind.
  if (site.autoscaling) d.resources.push_back(autoscalers);
  if (site.allows(Controller::stateful_set)) owned("services", "Service");
  if (site.disruption_budgets) owned("poddisruptionbudgets", "PodDisruptionBudget", "policy");
  if (site.has_secrets()) owned("secrets", "Secret");
  if (site.decrypts_secrets) owned("serviceaccounts", "ServiceAccount");
  d.columns = {{DAVIT_COLUMN_SPEC, "REPLICAS", "/replicas", "integer", 0},
               {DAVIT_COLUMN_SPEC, "IMAGE", "/image", "string", 0},
               {DAVIT_COLUMN_SPEC, "CPU(m)", "/cpu_millicores", "integer", 1},
               {DAVIT_COLUMN_SPEC, "MEMORY(Mi)", "/memory_mib", "integer", 1},
               {DAVIT_COLUMN_DETAIL, "TEMPLATE", "/template_hash", "string", 1}};
  kind::CtrlV1 c;
  c.watch = "WatchDeployments";
  c.get = "GetDesiredDeploymentState";
  c.report = "ReportDeploymentStatus";
  c.state_type = "ctrl.v1.DeploymentState";
  c.watch_type = "ctrl.v1.WatchDeploymentsRequest";
  c.get_type = "ctrl.v1.GetDesiredDeploymentStateRequest";
  c.report_type = "ctrl.v1.ReportDeploymentStatusRequest";
  c.report_response_type = "ctrl.v1.ReportDeploymentStatusResponse";
  d.ctrl_v1 = std::move(c);
  return d;
}

std::vector<kind::Need> needs_of(const Site& site) {
  std::vector<kind::Need> out;
  if (site.replace_stale || site.allows(Controller::stateful_set)) {
    const char* without = site.allows(Controller::stateful_set)
                              ? "replace_stale = false and controllers without \"stateful_set\""
                              : "replace_stale = false";
    out.push_back({"", "v1", "pods", {}, {"delete"}, without});
  }
  if (site.autoscaling) {
    out.push_back({"autoscaling", "v2", "horizontalpodautoscalers", {}, {}, "autoscaling = false"});
  }
  const auto of_controller = [&](Controller c, const char* group, const char* resource) {
    const std::string without = "controllers without \"" + std::string(word_of(c)) + '"';
    if (site.allows(c)) out.push_back({group, "v1", resource, {}, {}, without});
  };
  if (site.controllers.size() > 1) {
    for (const Controller c : site.controllers) of_controller(c, "apps", resource_of(c));
  }
  of_controller(Controller::stateful_set, "", "services");
  if (site.disruption_budgets)
    out.push_back({"policy", "v1", "poddisruptionbudgets", {}, {}, "no disruption_budget"});
  const std::string without = "secrets_as = \"encrypted_env\" and no pull_secrets";
  if (site.has_secrets()) out.push_back({"", "v1", "secrets", {}, {}, without});
  if (site.decrypts_secrets)
    out.push_back({"", "v1", "serviceaccounts", {}, {}, "secrets_as = \"encrypted_env\""});
  add_needs(site.placement, out);
  return out;
}

class Deployment {
 public:
  using roles = Roles<kind::Role, kind::NeedsRole>;
  static constexpr uint32_t max_concurrency = 4;  // reconciliations at once

  explicit Deployment(Host host) : site_(read_site(host)), described_(describe(site_)) {}

  const kind::Described& described() const { return described_; }
  std::vector<kind::Need> needs() const { return needs_of(site_); }
  Result<Named> identify(std::string_view apply) const { return deployment::identify(apply); }
  Result<> validate(std::string_view apply) const {
    auto workload = read_workload(apply, site_);
    if (!workload.ok()) return workload.error();
    return {};
  }
  kind::Class classify(std::string_view state, std::string_view apply) const {
    if (state == "stopped" || state == "stopping" || state == "archived" || state == "standby") {
      return kind::Class::remove;
    }
    if (state != "running" && state != "starting" && state != "started")
      return kind::Class::unhandled;
    return site_.zero_is_delete && wants_none(apply, site_) ? kind::Class::remove
                                                            : kind::Class::apply;
  }
  Result<std::string> reconcile(std::string_view input) const {
    return deployment::reconcile(input, site_);
  }
  Result<Named> attribute(std::string_view object) const {
    const auto value = kubernetes::parse_object(object, "the object");
    if (!value.ok()) return value.error();
    return deployment::attribute(*value, site_);
  }
  Result<std::string> delete_message(const Named& n) const { return deployment::delete_message(n); }
  Result<std::string> apply_message(std::string_view apply) const {
    return deployment::apply_message(apply, site_);
  }
  Result<std::string> to_report(const Named& n, const Status& s) const {
    return deployment::to_report(n, s);
  }
  Result<std::pair<Named, Status>> from_report(std::string_view report) const {
    return deployment::from_report(report);
  }

 private:
  Site site_;
  kind::Described described_;
};

}  // namespace
}  // namespace davit::deployment

DAVIT_PLUGIN(davit::deployment::Deployment, "kind_deployment", DAVIT_PLUGIN_VERSION,
             "user workloads as ReplicaSets, Deployments or StatefulSets, with autoscalers")

// The plugin: hands each call of the kind role to the part that decides it. Its only state is its
// settings and the platform of the server that the setting `server` names.
#include <boost/json/value.hpp>
#include <davit/kind_needs.hpp>
#include <davit/rpc.hpp>

#include "ctrl_report.hpp"
#include "kubernetes/fields.hpp"
#include "labels.hpp"
#include "observed.hpp"
#include "reconcile.hpp"
#include "sentinel.hpp"
#include "sentinel_descriptors.h"
#include "site.hpp"

namespace davit::sentinel {
namespace {

kind::Resource owned(const char* group, const char* version, const char* resource, const char* kind,
                     const std::string& selector) {
  return {DAVIT_RESOURCE_OWNED, group, version, resource, kind, true, selector, {}};
}

kind::Description describe(const Site& site) {
  kind::Description d;
  d.kind = "sentinel";
  d.apply_type = "ctrl.v1.ApplySentinel";
  d.descriptor_set = sentinel_descriptors();
  const std::string selector = labels::selector(site.labels);
  d.resources = {
      {DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}},
      owned("apps", "v1", "deployments", "Deployment", selector),
      owned("", "v1", "services", "Service", selector),
      {DAVIT_RESOURCE_SEEN, "", "v1", "pods", "Pod", true, selector, kubernetes::kept_of_pods()},
  };
  // A resource that the site does without is not watched: an account that may not watch it would
  // stay blind for the kind.
  if (site.disruption_budget)
    d.resources.push_back(
        owned("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", selector));
  if (site.gossip_policy)
    d.resources.push_back(
        owned("cilium.io", "v2", "ciliumnetworkpolicies", "CiliumNetworkPolicy", selector));
  d.columns = {{DAVIT_COLUMN_SPEC, "REPLICAS", "/replicas", "integer", 0},
               {DAVIT_COLUMN_SPEC, "IMAGE", "/image", "string", 0},
               {DAVIT_COLUMN_DETAIL, "TEMPLATE", "/template_hash", "string", 1}};
  kind::CtrlV1 c;
  c.watch = "WatchSentinels";
  c.get = "GetDesiredSentinelState";
  c.report = "ReportSentinelStatus";
  c.state_type = "ctrl.v1.SentinelState";
  c.watch_type = "ctrl.v1.WatchSentinelsRequest";
  c.get_type = "ctrl.v1.GetDesiredSentinelStateRequest";
  c.report_type = "ctrl.v1.ReportSentinelStatusRequest";
  c.report_response_type = "ctrl.v1.ReportSentinelStatusResponse";
  d.ctrl_v1 = std::move(c);
  return d;
}

std::vector<kind::Need> needs_of(const Site& site) {
  std::vector<kind::Need> out;
  if (site.disruption_budget) {
    out.push_back({"policy", "v1", "poddisruptionbudgets", {}, {}, "disruption_budget = false"});
  }
  if (site.gossip_policy)
    out.push_back({"cilium.io", "v2", "ciliumnetworkpolicies", {}, {}, "gossip_policy = false"});
  add_needs(site.placement, out);
  return out;
}

class Kind {
 public:
  using roles = Roles<kind::Role, kind::NeedsRole>;
  static constexpr uint32_t max_concurrency = 4;  // reconciliations at once

  explicit Kind(Host host)
      : host_(host),
        server_(Settings(host).string("server", "")),
        site_(read_site(host)),
        described_(describe(site_)) {}

  // Takes the region's platform from the connection's configuration, so that it need not be set
  // twice.
  Result<> wire() {
    if (server_.empty() || !site_.platform.empty()) return {};
    const auto channel = rpc::Channel::find(host_, server_);
    if (!channel.ok()) return channel.error();
    site_.platform = channel->platform();
    return {};
  }

  const kind::Described& described() const { return described_; }
  std::vector<kind::Need> needs() const { return needs_of(site_); }
  Result<Named> identify(std::string_view apply) const { return sentinel::identify(apply, site_); }
  Result<> validate(std::string_view apply) const {
    const auto read = read_sentinel(apply);
    if (!read.ok()) return read.error();
    return {};
  }
  kind::Class classify(std::string_view state, std::string_view apply) const {
    if (state == "archived" || state == "standby") return kind::Class::remove;
    if (state != "running") return kind::Class::unhandled;
    return site_.zero_is_delete && wants_none(apply) ? kind::Class::remove : kind::Class::apply;
  }
  Result<std::string> reconcile(std::string_view input) const {
    return sentinel::reconcile(input, site_);
  }
  Result<Named> attribute(std::string_view object) const {
    const auto value = kubernetes::parse_object(object, "the object");
    if (!value.ok()) return value.error();
    return sentinel::attribute(*value, site_);
  }
  Result<std::string> delete_message(const Named& n) const { return sentinel::delete_message(n); }
  Result<std::string> to_report(const Named& n, const Status& s) const {
    return sentinel::to_report(n, s);
  }
  Result<std::pair<Named, Status>> from_report(std::string_view report) const {
    return sentinel::from_report(report);
  }

 private:
  const Host host_;
  const std::string server_;  // the name of an [rpc.client]; empty: none
  Site site_;
  kind::Described described_;
};

}  // namespace
}  // namespace davit::sentinel

DAVIT_PLUGIN(davit::sentinel::Kind, "kind_sentinel", DAVIT_PLUGIN_VERSION,
             "sentinels as Deployments, with Services, a disruption budget and a gossip policy")

// The plugin: describes Cilium network policies to the host and hands each call to policy.hpp.
#include <davit/kind.hpp>

#include "cilium_descriptors.h"
#include "policy.hpp"

namespace davit::cilium {
namespace {

kind::Description describe(const Site& site) {
  kind::Description d;
  d.kind = "cilium_network_policy";
  d.apply_type = "ctrl.v1.ApplyCiliumNetworkPolicy";
  d.descriptor_set = cilium_descriptors();
  d.json_fields = {"ctrl.v1.ApplyCiliumNetworkPolicy.policy"};
  const std::string selector = site.labels.selector(component_policy);
  d.resources = {
      {DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}},
      {DAVIT_RESOURCE_OWNED,
       "cilium.io",
       "v2",
       "ciliumnetworkpolicies",
       "CiliumNetworkPolicy",
       true,
       selector,
       {}},
  };
  kind::CtrlV1 c;
  c.watch = "WatchCiliumNetworkPolicies";
  c.get = "GetDesiredCiliumNetworkPolicyState";
  c.state_type = "ctrl.v1.CiliumNetworkPolicyState";
  c.watch_type = "ctrl.v1.WatchCiliumNetworkPoliciesRequest";
  c.get_type = "ctrl.v1.GetDesiredCiliumNetworkPolicyStateRequest";
  d.ctrl_v1 = std::move(c);
  return d;
}

class CiliumNetworkPolicy {
 public:
  using roles = Roles<kind::Role>;

  explicit CiliumNetworkPolicy(Host host)
      : site_{kubernetes::read_labels(Settings(host))}, described_(describe(site_)) {}

  const kind::Described& described() const { return described_; }
  Result<Named> identify(std::string_view apply) const { return cilium::identify(apply); }
  Result<> validate(std::string_view apply) const { return cilium::validate(apply); }
  // A message with an empty policy is held. To apply it would take the old policy away and open the
  // network.
  kind::Class classify(std::string_view state, std::string_view apply) const {
    if (state == "archived" || state == "stopped") return kind::Class::remove;
    // An empty `apply`: the caller asks about the state only.
    const bool applicable = apply.empty() || has_policy(apply);
    return state == "running" && applicable ? kind::Class::apply : kind::Class::unhandled;
  }
  Result<std::string> reconcile(std::string_view input) const {
    return cilium::reconcile(input, site_);
  }
  Result<Named> attribute(std::string_view object) const {
    return cilium::attribute(object, site_);
  }
  Result<std::string> apply_message(std::string_view apply) const {
    return cilium::apply_message(apply);
  }
  Result<std::string> delete_message(const Named& n) const { return cilium::delete_message(n); }

 private:
  Site site_;
  kind::Described described_;
};

}  // namespace
}  // namespace davit::cilium

DAVIT_PLUGIN(davit::cilium::CiliumNetworkPolicy, "kind_cilium_network_policy", DAVIT_PLUGIN_VERSION,
             "Cilium network policies, as they are given")

// The rules of what workloads use, and of all kinds that have no rule of their own.
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "health_rules.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::manifest::health {
using namespace kubernetes;
namespace {

std::string saying_or(const Object& o, const char* type, const char* otherwise) {
  std::string why = saying(o, type);
  return why.empty() ? otherwise : why;
}

bool has_address(const Object& o) {
  const auto* addresses = array_at(o, "/status/loadBalancer/ingress");
  return addresses != nullptr && !addresses->empty();
}

// Whether the condition is about the object's present generation, as far as it says so.
bool is_of_now(const Object& o, const boost::json::object* condition) {
  const auto* seen = value_in(condition, "observedGeneration");
  const auto generation = seen == nullptr ? std::nullopt : as_integer(*seen);
  return !generation || *generation >= integer_at(o, "/metadata/generation").value_or(0);
}

}  // namespace

Health of_claim(const Object& o, const Site&) {
  const auto phase = text_at(o, "/status/phase");
  if (phase == "Bound") return {};
  if (phase == "Lost") return failed("its volume is lost");
  return progressing("has no volume yet");
}

Health of_service(const Object& o, const Site&) {
  if (text_at(o, "/spec/type") != "LoadBalancer" || has_address(o)) return {};
  return progressing("its load balancer has no address yet");
}

Health of_ingress(const Object& o, const Site& site) {
  if (!site.ingress_needs_address || has_address(o)) return {};
  return progressing("has no address yet");
}

Health of_autoscaler(const Object& o, const Site&) {
  if (condition(o, "AbleToScale") == nullptr)
    return progressing("its controller has not seen it yet");
  if (says(o, "AbleToScale", "False"))
    return failed(saying_or(o, "AbleToScale", "is not able to scale"));
  const auto why = text_in(condition(o, "ScalingActive"), "reason");
  if (says(o, "ScalingActive", "False") && why != "ScalingDisabled")
    return failed(saying_or(o, "ScalingActive", "does not scale"));
  return {};
}

Health of_budget(const Object& o, const Site&) {
  const auto wanted = integer_at(o, "/status/desiredHealthy");
  if (!wanted) return progressing("its controller has not seen it yet");
  if (text_in(condition(o, "DisruptionAllowed"), "reason") == "SyncFailed")
    return failed(saying_or(o, "DisruptionAllowed", "its pods cannot be counted"));
  const int64_t healthy = integer_at(o, "/status/currentHealthy").value_or(0);
  if (healthy >= *wanted) return {};
  return progressing(std::to_string(healthy) + " of " + std::to_string(*wanted) +
                     " pods that it needs are healthy");
}

Health of_cilium_policy(const Object& o, const Site&) {
  std::string why = fault_of_policy(o);
  return why.empty() ? Health{} : failed(std::move(why));
}

Health of_conditions(const Object& o, const Site&) {
  if (says(o, "Stalled", "True")) return failed(saying_or(o, "Stalled", "is stalled"));
  if (says(o, "Reconciling", "True"))
    return progressing(saying_or(o, "Reconciling", "its controller works on it"));
  for (const char* type : {"Ready", "Available"}) {
    const auto* found = condition(o, type);
    if (found == nullptr) continue;
    if (!is_of_now(o, found)) return progressing("its controller has not seen the change yet");
    if (text_in(found, "status") == "True") return {};
    return progressing(saying_or(o, type, "is not ready"));
  }
  return {};
}

}  // namespace davit::manifest::health

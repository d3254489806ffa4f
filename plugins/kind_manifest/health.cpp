#include "health.hpp"

#include <utility>

#include <boost/json/value.hpp>
#include <davit/utf8.hpp>

#include "health_rules.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::manifest {
namespace json = boost::json;
using namespace kubernetes;
namespace {

using Rule = Health (*)(const json::value&, const Site&);

struct RuleOf {
  const char *group, *kind;
  Rule rule;
};

constexpr RuleOf rules[] = {
    {"apps", "Deployment", health::of_deployment},
    {"apps", "StatefulSet", health::of_stateful_set},
    {"apps", "DaemonSet", health::of_daemon_set},
    {"apps", "ReplicaSet", health::of_replica_set},
    {"", "ReplicationController", health::of_replica_set},
    {"", "Pod", health::of_pod},
    {"batch", "Job", health::of_job},
    {"batch", "CronJob", health::of_cron_job},
    {"", "PersistentVolumeClaim", health::of_claim},
    {"", "Service", health::of_service},
    {"networking.k8s.io", "Ingress", health::of_ingress},
    {"autoscaling", "HorizontalPodAutoscaler", health::of_autoscaler},
    {"policy", "PodDisruptionBudget", health::of_budget},
    {"cilium.io", "CiliumNetworkPolicy", health::of_cilium_policy},
};

}  // namespace

const char* word_of(State s) {
  switch (s) {
    case State::failed:
      return "failed";
    case State::missing:
      return "missing";
    case State::outdated:
      return "outdated";
    case State::terminating:
      return "terminating";
    case State::progressing:
      return "progressing";
    case State::suspended:
      return "suspended";
    default:
      return "healthy";
  }
}

Health judge(const json::value& object, const Site& site) {
  if (is_terminating(object)) return {State::terminating, "is being deleted"};
  // What the status says of an older generation says nothing about this one. An object whose
  // controller counts no generations has no such member.
  const auto seen = integer_at(object, "/status/observedGeneration");
  if (seen && *seen < integer_at(object, "/metadata/generation").value_or(0))
    return {State::progressing, "its controller has not seen the change yet"};
  for (const RuleOf& each : rules) {
    if (is(object, each.group, each.kind)) return each.rule(object, site);
  }
  return health::of_conditions(object, site);
}

}  // namespace davit::manifest

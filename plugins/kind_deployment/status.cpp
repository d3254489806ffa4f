#include "status.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/plan.hpp"
#include "rollout.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr size_t named_max = 3;  // how many pods a message names
// People are told when a pod is still there this long after its grace period.
constexpr int64_t overdue_ms = 60'000;

std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < named_max; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > named_max) out += " and " + std::to_string(names.size() - named_max) + " more";
  return out;
}

// The pods that should be gone and are not. When a pod's node is gone, nobody ends the pod.
std::string overdue(const Observed& observed, int64_t now_ms) {
  std::vector<std::string> names;
  for (const auto& pod : observed.pods) {
    if (pod.terminating && pod.ends_ms != 0 && pod.ends_ms + overdue_ms < now_ms)
      names.push_back(pod.name);
  }
  return names.empty() ? "" : "does not end, its node may be gone: " + list(names);
}

json::array children(const Observed& observed, int64_t port, const Site& site) {
  return children_of(observed.pods, [&](const Pod& pod) { return address_of(pod, port, site); });
}

}  // namespace

json::object status_of(const Workload& w, const Observed& observed, int64_t replicas,
                       const std::string& wanted_hash, const Remarks& remarks, const Site& site) {
  const Counts counts = count(observed.pods);
  std::string message;
  std::string health = "healthy";
  if (replicas == 0) {
    health = "paused";
  } else if (counts.ready < replicas || counts.updated < replicas || !counts.stale.empty()) {
    Trouble trouble;
    const auto* there = observed.find(w.controller);
    if (there != nullptr && !there->trouble.text.empty()) {
      trouble = there->trouble;
      trouble.text = std::string(spoken(w.controller)) + ": " + trouble.text;
    }
    add_worst_pod(trouble, observed.pods);
    message = trouble.text;
    health = trouble.failing && counts.ready < replicas ? "unhealthy" : "progressing";
  }
  json::object detail{{"template_hash", wanted_hash}};
  if (!counts.stale.empty()) {
    detail["stale_pods"] = json::array(counts.stale.begin(), counts.stale.end());
    add_reason(message, "of an older template: " + list(counts.stale));
    add_reason(message, remarks.waits);
  }
  add_reason(message, remarks.controller);
  for (const auto& note : w.notes) add_reason(message, note);
  return {{"gone", false},
          {"health", health},
          {"desired", replicas},
          {"updated", counts.updated},
          {"ready", counts.ready},
          {"stale", counts.stale.size()},
          {"message", message},
          {"detail", std::move(detail)},
          {"children", children(observed, w.port, site)}};
}

json::object status_of_deleting(const Observed& observed, int64_t now_ms, const Site& site) {
  const Counts counts = count(observed.pods);
  int64_t port = site.default_port;
  for (const auto& [controller, there] : observed.controllers) {
    if (there.port != 0) port = there.port;
  }
  return status_of_deleted(observed.nothing(), counts.ready, counts.active,
                           children(observed, port, site), overdue(observed, now_ms));
}

}  // namespace davit::deployment

#include "status.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "rollout.hpp"

namespace davit::deployment {
namespace json = boost::json;
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

// The worst known trouble, for people: why pods cannot be made, and then that of the worst pod.
std::string trouble_of(const Observed& observed, bool& failing) {
  std::string out;
  failing = false;
  if (observed.replica_set && !observed.replica_set->trouble.empty()) {
    out = "replica set: " + observed.replica_set->trouble;
    failing = true;
  }
  const Pod* worst = nullptr;
  int64_t others = -1;
  for (const auto& pod : observed.pods) {
    if (pod.trouble.empty() || pod.terminating) continue;
    ++others;
    if (worst == nullptr || (pod.failing && !worst->failing)) worst = &pod;
  }
  if (worst == nullptr) return out;
  failing = failing || worst->failing;
  out += (out.empty() ? "pod " : "; pod ") + worst->name + ": " + worst->trouble;
  if (others > 0) out += " (and " + std::to_string(others) + " more)";
  return out;
}

json::array children_of(const Observed& observed, int64_t port, const Site& site) {
  json::array out;
  for (const auto& pod : observed.pods) {
    if (!pod.active() || pod.ip.empty()) continue;
    out.push_back(json::object{{"name", pod.name},
                               {"address", address_of(pod, port, site)},
                               {"status", pod.status},
                               {"cpu_millicores", pod.cpu_millicores},
                               {"memory_mib", pod.memory_mib}});
  }
  return out;
}

void add(std::string& message, const std::string& more) {
  if (more.empty()) return;
  if (!message.empty()) message += "; ";
  message += more;
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

}  // namespace

json::object status_of(const Workload& w, const Observed& observed, int64_t replicas,
                       const std::string& wanted_hash, const std::string& waits, const Site& site) {
  const Counts counts = count(observed.pods);
  bool failing = false;
  std::string message;
  std::string health = "healthy";
  if (replicas == 0) {
    health = "paused";
  } else if (counts.ready < replicas || counts.updated < replicas || !counts.stale.empty()) {
    message = trouble_of(observed, failing);
    health = failing && counts.ready < replicas ? "unhealthy" : "progressing";
  }
  json::object detail{{"template_hash", wanted_hash}};
  if (!counts.stale.empty()) {
    detail["stale_pods"] = json::array(counts.stale.begin(), counts.stale.end());
    add(message, "of an older template: " + list(counts.stale));
    add(message, waits);
  }
  for (const auto& note : w.notes) add(message, note);
  return {{"gone", false},
          {"health", health},
          {"desired", replicas},
          {"updated", counts.updated},
          {"ready", counts.ready},
          {"stale", counts.stale.size()},
          {"message", message},
          {"detail", std::move(detail)},
          {"children", children_of(observed, w.port, site)}};
}

json::object status_of_deleting(const Observed& observed, int64_t now_ms, const Site& site) {
  const Counts counts = count(observed.pods);
  const auto& rs = observed.replica_set;
  const int64_t port = rs && rs->port != 0 ? rs->port : site.default_port;
  const bool gone = observed.nothing();
  std::string message = gone ? "" : "being deleted";
  add(message, overdue(observed, now_ms));
  return {{"gone", gone},
          {"health", gone ? "unknown" : "progressing"},
          {"desired", 0},
          {"updated", 0},
          {"ready", counts.ready},
          {"stale", counts.active},
          {"message", message},
          {"detail", json::object{}},
          {"children", children_of(observed, port, site)}};
}

}  // namespace davit::deployment

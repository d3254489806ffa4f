// The rules of what runs pods.
#include <boost/json/value.hpp>

#include "health_rules.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/pod.hpp"

namespace davit::manifest::health {
namespace json = boost::json;
using namespace kubernetes;
namespace {

int64_t number(const Object& object, std::string_view pointer, int64_t fallback = 0) {
  return integer_at(object, pointer).value_or(fallback);
}

bool is_true(const Object& object, std::string_view pointer) {
  json::error_code none;
  const auto* value = object.find_pointer(pointer, none);
  return value != nullptr && *value == true;
}

// "1 of 3 replicas are available".
std::string few(int64_t there, int64_t wanted, const char* what) {
  return std::to_string(there) + " of " + std::to_string(wanted) + " " + what;
}

Health not_seen() {
  return progressing("its controller has not seen it yet");
}

// A controller has always seen a generation, once it has looked.
bool is_new(const Object& object) {
  return !integer_at(object, "/status/observedGeneration");
}

// Pods that are refused, such as by a quota. Waiting may help, but not without somebody's help.
std::string refused_pods(const Object& object) {
  if (!says(object, "ReplicaFailure", "True")) return {};
  const std::string why = saying(object, "ReplicaFailure");
  return why.empty() ? "its pods are refused" : why;
}

bool by_hand(const Object& object) {
  return text_at(object, "/spec/updateStrategy/type") == "OnDelete";
}

}  // namespace

Health of_deployment(const Object& o, const Site&) {
  if (is_new(o)) return not_seen();
  const auto* progress = condition(o, "Progressing");
  if (text_in(progress, "reason") == "ProgressDeadlineExceeded")
    return failed(saying(o, "Progressing"));
  const int64_t wanted = number(o, "/spec/replicas", 1);
  const int64_t all = number(o, "/status/replicas"), updated = number(o, "/status/updatedReplicas"),
                available = number(o, "/status/availableReplicas");
  if (updated >= wanted && all <= updated && available >= wanted) return {};
  if (auto why = refused_pods(o); !why.empty()) return failed(std::move(why));
  if (is_true(o, "/spec/paused") && updated < wanted)
    return {State::suspended, "is paused: " + few(updated, wanted, "replicas are updated")};
  if (updated < wanted) return progressing(few(updated, wanted, "replicas are updated"));
  if (all > updated)
    return progressing(std::to_string(all - updated) + " old replicas are still there");
  return progressing(few(available, wanted, "replicas are available"));
}

Health of_stateful_set(const Object& o, const Site&) {
  if (is_new(o)) return not_seen();
  const int64_t wanted = number(o, "/spec/replicas", 1);
  const int64_t ready = number(o, "/status/readyReplicas");
  if (number(o, "/status/replicas") < wanted)
    return progressing(few(number(o, "/status/replicas"), wanted, "replicas are there"));
  if (ready < wanted) return progressing(few(ready, wanted, "replicas are ready"));
  if (number(o, "/status/replicas") > wanted)
    return progressing(std::to_string(number(o, "/status/replicas") - wanted) +
                       " replicas are to go");
  const int64_t available = number(o, "/status/availableReplicas", wanted);
  if (available < wanted) return progressing(few(available, wanted, "replicas are available"));
  if (by_hand(o)) return {};
  const int64_t partition = number(o, "/spec/updateStrategy/rollingUpdate/partition");
  const int64_t to_update = std::max<int64_t>(0, wanted - partition);
  const int64_t updated = number(o, "/status/updatedReplicas");
  const bool whole = text_at(o, "/status/currentRevision") == text_at(o, "/status/updateRevision");
  if (!whole && (partition == 0 || updated < to_update))
    return progressing(few(updated, to_update, "replicas are updated"));
  return {};
}

Health of_daemon_set(const Object& o, const Site&) {
  if (is_new(o)) return not_seen();
  const int64_t wanted = number(o, "/status/desiredNumberScheduled");
  const int64_t updated = number(o, "/status/updatedNumberScheduled");
  const int64_t available = number(o, "/status/numberAvailable");
  if (!by_hand(o) && updated < wanted) return progressing(few(updated, wanted, "pods are updated"));
  if (available < wanted) return progressing(few(available, wanted, "pods are available"));
  return {};
}

Health of_replica_set(const Object& o, const Site&) {
  if (is_new(o)) return not_seen();
  const int64_t wanted = number(o, "/spec/replicas", 1);
  const int64_t all = number(o, "/status/replicas");
  const int64_t available = number(o, "/status/availableReplicas");
  if (auto why = refused_pods(o); !why.empty() && all < wanted) return failed(std::move(why));
  if (available < wanted) return progressing(few(available, wanted, "replicas are available"));
  if (all > wanted) return progressing(std::to_string(all - wanted) + " replicas are to go");
  return {};
}

Health of_pod(const Object& o, const Site&) {
  const Pod pod = read_pod(o);
  if (pod.status == "done" || pod.ready()) return {};
  const std::string why = pod.trouble.empty() ? "is not ready" : pod.trouble;
  return pod.failing ? failed(why) : progressing(why);
}

Health of_job(const Object& o, const Site&) {
  if (says(o, "Failed", "True")) {
    const std::string why = saying(o, "Failed");
    return failed(why.empty() ? "has failed" : why);
  }
  if (says(o, "Complete", "True")) return {};
  if (is_true(o, "/spec/suspend")) return {State::suspended, "is suspended"};
  std::string why = few(number(o, "/status/succeeded"), number(o, "/spec/completions", 1),
                        "completions are done");
  if (const int64_t lost = number(o, "/status/failed"); lost > 0)
    why += ", and " + std::to_string(lost) + " pods have failed";
  return progressing(std::move(why));
}

// Its Jobs are objects of their own.
Health of_cron_job(const Object& o, const Site&) {
  if (is_true(o, "/spec/suspend")) return {State::suspended, "is suspended"};
  return {};
}

}  // namespace davit::manifest::health

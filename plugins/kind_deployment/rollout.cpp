#include "rollout.hpp"

#include <algorithm>

namespace davit::deployment {
namespace {

// How much of `span_ms` is left since `since_ms`, which is a time of the cluster's clock; `now_ms`
// is of ours. A time that is unknown or lies further ahead than the span counts as long past.
int64_t left(int64_t since_ms, int64_t span_ms, int64_t now_ms) {
  if (now_ms == 0 || since_ms == 0 || since_ms - now_ms > span_ms) return 0;
  return std::max<int64_t>(0, since_ms + span_ms - now_ms);
}

// For a pod that is ready: the time until it is available. Time alone makes no other pod available.
int64_t until_available(const Pod& pod, const Pace& pace) {
  return left(pod.ready_since_ms, pace.min_ready_ms, pace.now_ms);
}
bool available(const Pod& pod, const Pace& pace) {
  return pod.ready() && until_available(pod, pace) == 0;
}
int64_t until_old(const Pod& pod, const Pace& pace) {
  return left(pod.created_ms, pace.replace_after_ms, pace.now_ms);
}

struct Places {
  int64_t stale = 0;  // old enough to be replaced
  int64_t ready = 0, available = 0, updated_available = 0;
  int64_t young = 0;  // stale pods that are not yet old enough
  int64_t look_again_ms = 0;

  void wait(int64_t ms) {
    if (ms > 0) look_again_ms = look_again_ms == 0 ? ms : std::min(look_again_ms, ms);
  }
};

Places places_of(const std::vector<Pod>& pods, const Pace& pace) {
  Places out;
  for (const auto& pod : pods) {
    if (!pod.active()) continue;
    if (pod.ready()) {
      ++out.ready;
      out.wait(until_available(pod, pace));
    }
    if (available(pod, pace)) {
      ++out.available;
      if (!pod.stale) ++out.updated_available;
    }
    if (!pod.stale) continue;
    out.wait(until_old(pod, pace));
    ++(until_old(pod, pace) == 0 ? out.stale : out.young);
  }
  return out;
}

}  // namespace

Counts count(const std::vector<Pod>& pods) {
  Counts out;
  for (const auto& pod : pods) {
    if (!pod.active()) continue;
    ++out.active;
    if (pod.ready()) ++out.ready;
    if (pod.stale) {
      out.stale.push_back(pod.name);
    } else {
      ++out.updated;
    }
  }
  return out;
}

Available available_of(const std::vector<Pod>& pods, const Pace& pace) {
  Available out;
  for (const auto& pod : pods) {
    if (pod.stale || !pod.ready()) continue;
    const int64_t wait = until_available(pod, pace);
    if (wait == 0) ++out.updated;
    if (wait > 0)
      out.look_again_ms = out.look_again_ms == 0 ? wait : std::min(out.look_again_ms, wait);
  }
  return out;
}

Replacement replace_now(const std::vector<Pod>& pods, int64_t replicas, const Pace& pace,
                        std::optional<int64_t> controllers_ready) {
  Places there = places_of(pods, pace);
  if (controllers_ready) {
    there.ready = std::min(there.ready, *controllers_ready);
    there.available = std::min(there.available, *controllers_ready);
  }
  // Places with neither a stale pod nor an available new one. They are being replaced now.
  const int64_t in_flight = std::max<int64_t>(0, replicas - there.stale - there.updated_available);
  int64_t places = pace.max_unavailable - in_flight;
  int64_t spare_ready = there.ready - (replicas - pace.max_unavailable);
  int64_t spare_available = there.available - (replicas - pace.max_unavailable);

  Replacement out;
  for (const bool ready : {false, true}) {
    for (const auto& pod : pods) {
      if (!pod.active() || !pod.stale || pod.ready() != ready) continue;
      if (places <= 0) break;
      const bool counts = available(pod, pace);
      if (until_old(pod, pace) > 0 || (ready && spare_ready <= 0) ||
          (counts && spare_available <= 0))
        continue;
      --places;
      if (ready) --spare_ready;
      if (counts) --spare_available;
      out.remove.push_back(pod.name);
    }
  }
  if (there.stale + there.young == 0) return out;
  out.look_again_ms = there.look_again_ms;
  if (out.look_again_ms == 0 || !out.remove.empty()) return out;
  out.waits = there.young > 0 ? "waits until they are replace_after_s old"
                              : "waits until the new ones have been ready for min_ready_s";
  return out;
}

}  // namespace davit::deployment

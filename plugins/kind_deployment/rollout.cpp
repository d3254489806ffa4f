#include "rollout.hpp"

#include <algorithm>

namespace davit::deployment {

Counts count(const std::vector<Pod>& pods, const std::string& hash) {
  Counts out;
  for (const auto& pod : pods) {
    if (!pod.active()) continue;
    ++out.active;
    if (pod.ready()) ++out.ready;
    if (pod.hash != hash) {
      out.stale.push_back(pod.name);
    } else {
      ++out.updated;
      if (pod.ready()) ++out.updated_ready;
    }
  }
  return out;
}

std::vector<std::string> replace_now(const std::vector<Pod>& pods, const Wanted& wanted,
                                     int64_t max_unavailable) {
  const Counts counts = count(pods, wanted.hash);
  const auto stale = static_cast<int64_t>(counts.stale.size());
  // Places that hold neither a stale pod nor a ready new one: they are being replaced now.
  const int64_t in_flight = std::max<int64_t>(0, wanted.replicas - stale - counts.updated_ready);
  int64_t places = max_unavailable - in_flight;
  int64_t spare_ready = counts.ready - (wanted.replicas - max_unavailable);

  std::vector<std::string> out;
  for (const bool ready : {false, true}) {
    for (const auto& pod : pods) {
      if (!pod.active() || pod.hash == wanted.hash || pod.ready() != ready) continue;
      if (places <= 0 || (ready && spare_ready <= 0)) break;
      --places;
      if (ready) --spare_ready;
      out.push_back(pod.name);
    }
  }
  return out;
}

}  // namespace davit::deployment

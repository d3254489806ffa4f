#include "purge.hpp"

namespace davit::desired {

Purge::Purge(PurgeLimits limits, const std::vector<Progress>& agents, int64_t now_unix_ms)
    : committed_before_(now_unix_ms - limits.retention.count()),
      held_after_(now_unix_ms - limits.agent_hold.count()) {
  for (const auto& a : agents) {
    if (a.seen_at_unix_ms < now_unix_ms - limits.agent_live.count()) continue;
    for (const auto& k : a.kinds) {
      if (k.applied.version >= applied_by_all_) continue;
      applied_by_all_ = k.applied.version;
      region_ = a.region;
      agent_ = a.agent;
    }
  }
}

bool Purge::take(Version version, int64_t committed_at_unix_ms) {
  if (hold_) return false;
  if (version > applied_by_all_ && committed_at_unix_ms > held_after_) {
    hold_ = Hold{"agent", version, committed_at_unix_ms, region_, agent_};
  } else if (committed_at_unix_ms > committed_before_) {
    hold_ = Hold{"retention", version, committed_at_unix_ms, {}, {}};
  } else {
    through_ = version;
    ++count_;
  }
  return !hold_;
}

}  // namespace davit::desired

// Decides which tombstones may be purged: those that are older than the retention and that every
// live agent has come past. There is one purge mark for the whole store. So the mark is never above
// the cursor of a live agent, whatever its region and kinds. An agent below the mark would have to
// begin again with a snapshot.
//
// An agent is live when it was heard of lately (agent_live). It holds a tombstone for a limited
// time (agent_hold): an agent that has not come past a tombstone in a month never will, and an
// invented agent must not hold the tombstones of all regions for ever. An agent that comes back
// from below the mark takes a snapshot.
//
// A ctrl.v1 agent reports no cursor, so only the retention protects it. While it is connected it
// hears of a delete at once. When it comes back from below the mark, the streamer sends everything
// again.
//
// Pure: Maintenance shows it the tombstones of the store, oldest first, until one must stay.
#pragma once

#include <davit/records.hpp>

namespace davit::desired {

struct PurgeLimits {
  std::chrono::milliseconds retention{std::chrono::hours(7 * 24)};
  std::chrono::milliseconds agent_live{std::chrono::hours(1)};
  std::chrono::milliseconds agent_hold{std::chrono::hours(30 * 24)};
};

class Purge {
 public:
  // Why a tombstone stays.
  struct Hold {
    std::string by;  // "retention" or "agent"
    Version version{};
    int64_t committed_at_unix_ms = 0;
    std::string region, agent;  // by "agent": the live agent with the lowest cursor
  };

  Purge(PurgeLimits limits, const std::vector<Progress>& agents, int64_t now_unix_ms);

  // Takes tombstones in ascending version order. False: this one stays, and so do all after it.
  bool take(Version version, int64_t committed_at_unix_ms);

  // The version of the last tombstone taken, and how many were taken; 0: none.
  Version through() const { return through_; }
  uint64_t count() const { return count_; }
  const std::optional<Hold>& hold() const { return hold_; }

 private:
  int64_t committed_before_ = 0;
  int64_t held_after_ = 0;                   // agents hold no tombstone committed before this time
  Version applied_by_all_ = Version::max();  // the lowest cursor of a live agent
  std::string region_, agent_;               // the agent that has this cursor
  Version through_{};
  uint64_t count_ = 0;
  std::optional<Hold> hold_;
};

}  // namespace davit::desired

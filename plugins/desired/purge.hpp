// Which tombstones may go: those that are older than the retention and that every live agent has
// come past. The purge mark therefore never stands above a live agent's cursor, whatever its region
// and kinds: it is one mark for the whole store, and an agent below it would have to begin anew.
//
// An agent is live when it was heard of lately. It holds a tombstone for a time and no longer: one
// that has not come past it in a month never will, and a made-up one must not hold those of all
// regions for ever. Whoever comes back from below the mark takes a snapshot. One that says no
// cursor (ctrl.v1 has no word for it) is protected by the retention alone: while it is connected it
// hears of a deletion at once, and when it comes back from below the mark the streamer tells it to
// begin anew.
//
// Pure: it is shown the tombstones of the store, oldest first, until one must stay.
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
    uint64_t version = 0;
    int64_t committed_at_unix_ms = 0;
    std::string region, agent;  // of the agent that has come least far
  };

  Purge(PurgeLimits limits, const std::vector<Progress>& agents, int64_t now_unix_ms);

  // In ascending version order. False: this one stays, and so do all after it.
  bool take(uint64_t version, int64_t committed_at_unix_ms);

  // The last one taken, and how many; 0 when none was.
  uint64_t through() const { return through_; }
  uint64_t count() const { return count_; }
  const std::optional<Hold>& hold() const { return hold_; }

 private:
  int64_t committed_before_ = 0;
  int64_t held_after_ = 0;                // what was committed earlier no agent holds
  uint64_t applied_by_all_ = UINT64_MAX;  // the lowest cursor of a live agent
  std::string region_, agent_;            // whose it is
  uint64_t through_ = 0;
  uint64_t count_ = 0;
  std::optional<Hold> hold_;
};

}  // namespace davit::desired

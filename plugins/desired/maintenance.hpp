// The maintenance of the store: it purges tombstones and forgets old agents, in rounds of bounded
// work, on a timer and for OperatorService/Maintain. A round reads the store in version order and
// shows the tombstones to Purge, which decides. Then the store removes the tombstones that Purge
// took. When a round has seen all tombstones, the store forgets the agents that were silent for
// long and are replaced.
//
// Each record is read once: a round begins where the last one ended, which is before the first
// tombstone that had to stay. Rounds block, on the storage's pool, one at a time. No lock is held
// while the store is called.
#pragma once

#include <condition_variable>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>
#include <davit/storage_election.hpp>

#include "purge.hpp"

namespace davit::desired {

struct MaintenanceSettings {
  std::chrono::milliseconds interval{std::chrono::hours(1)};  // 0: only on request
  PurgeLimits limits;
  std::chrono::milliseconds agent_retention{std::chrono::hours(30 * 24)};
};

class Maintenance {
 public:
  struct Request {
    bool dry_run = false;
    std::optional<std::chrono::milliseconds> retention;  // instead of the setting
    Cursor from;                                         // where a dry run continues
  };
  struct Report {
    Version purged_through{};
    uint64_t count = 0;
    uint64_t agents_forgotten = 0;
    std::optional<Purge::Hold> hold;
    Cursor next;        // where the round ended
    bool more = false;  // another round has more to read
  };

  // The timer's rounds run where `election` leads, requested ones everywhere.
  Maintenance(Host host, storage::Client storage, storage::Election election,
              Outstanding& outstanding, MaintenanceSettings settings);

  // Runs one round by this client, whose op may end it, also while it waits for another round.
  // Blocks. [any]
  Result<Report> round(const Request& request, const storage::Client& storage);
  void start();
  void stop();

 private:
  std::optional<Error> begin_turn(const Op& op);
  Result<Report> look(const Request& request, const storage::Client& storage);
  std::vector<Progress> forgettable(const std::vector<Progress>& agents) const;
  Result<> finish(const storage::Client& storage, Report& report, Version through,
                  const std::vector<Progress>& forgettable);
  void after(std::chrono::nanoseconds delay);
  void begin_round();
  void round_ended(const Result<Report>& report);

  Host host_;
  storage::Client storage_;
  const storage::Election election_;
  Outstanding& outstanding_;
  MaintenanceSettings settings_;
  Metric purged_, mark_, forgotten_, errors_;

  std::mutex mutex_;
  std::condition_variable ended_round_;
  bool in_round_ = false;

  // Of the one round in progress.
  Cursor scanned_;  // no tombstone is left at or below it

  // On the strand.
  Strand strand_;
  Timer timer_;
  uint64_t failures_ = 0;  // in a row
  bool ended_ = false;
};

}  // namespace davit::desired

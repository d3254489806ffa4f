// Sets the metrics of the agents (the Fleet) when an agent sends Progress: how many records it has
// not applied yet, and how long it took until those were applied that it has applied since its last
// Progress. Both come from a Backlog, so frequent Progress costs the store nothing.
#pragma once

#include <mutex>

#include <davit/backlog.hpp>
#include <davit/outstanding.hpp>

#include "fleet.hpp"
#include "limits.hpp"

namespace davit::recorder {

class AgentMetrics {
 public:
  AgentMetrics(Host host, storage::Client storage, Outstanding& outstanding,
               std::chrono::milliseconds stale_after, const Limits& limits);

  // Takes a progress after it was stored. Blocks.
  void heard(const Progress& progress);
  void start();
  void stop();

 private:
  // Reads what was committed since the last read. False: the store failed, or another call reads.
  bool read_on();
  // Nothing: not known now.
  std::optional<uint64_t> lag(const Progress& progress);
  // Observes for each change between the two cursors how long it took until it was applied.
  void observe(const std::string& region, const KindProgress& now, Cursor before,
               int64_t now_unix_ms) const;
  Metric lag_of(const Fleet::Name& name) const;
  Metric seen_of(const Fleet::Name& name) const;
  void show_issues(const std::string& region);
  void sweep();

  Host host_;
  storage::Client storage_;
  Outstanding& outstanding_;
  std::chrono::milliseconds stale_after_;
  Metric applied_, errors_;

  Backlog backlog_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;  // guards the fleet
  Fleet fleet_;
  bool full_ = false;

  // On the strand.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace davit::recorder

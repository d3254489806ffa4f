// Shows the Fleet as metrics. All is read when an agent says where it stands, and nothing in
// between: the store's head; for each kind that is not there, what the agent has to do yet; for
// each that has moved, what it has applied since it spoke last, and so how long that took.
#pragma once

#include <mutex>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

#include "fleet.hpp"

namespace davit::recorder {

class AgentMetrics {
 public:
  AgentMetrics(Host host, storage::Client storage, Outstanding& outstanding,
               std::chrono::milliseconds stale_after);

  // What an agent said, after it was stored. Blocks.
  void heard(const Progress& progress);
  void start();
  void stop();

 private:
  Result<uint64_t> lag(const Progress& progress);
  // How many records of one kind are above the cursor; a page of them at most.
  Result<uint64_t> newer(const Scope& scope, Cursor applied) const;
  // Observes how long it took until those between the two cursors were applied.
  void observe(const Scope& scope, Cursor before, Cursor applied, int64_t now_unix_ms) const;
  Metric lag_of(const Fleet::Name& name) const;
  Metric seen_of(const Fleet::Name& name) const;
  void show_issues(const std::string& region);
  void sweep();

  Host host_;
  storage::Client storage_;
  Outstanding& outstanding_;
  std::chrono::milliseconds stale_after_;
  Metric applied_, errors_;

  std::mutex mutex_;  // of the fleet; not held while the store is read
  Fleet fleet_;
  bool full_ = false;

  // On the strand.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace davit::recorder

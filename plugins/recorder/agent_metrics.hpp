// Shows the Fleet as metrics, when an agent says where it stands: for each kind what it has to do
// yet, and how long that took which it has applied since it spoke last. Both are counted in a
// Backlog, so an agent that speaks often costs the store nothing.
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

  // What an agent said, after it was stored. Blocks.
  void heard(const Progress& progress);
  void start();
  void stop();

 private:
  // Reads what was committed meanwhile; false: somebody else is doing so, or the store failed.
  bool read_on();
  // Nothing: not known yet.
  std::optional<uint64_t> lag(const Progress& progress);
  // Observes how long it took until those between the two cursors were applied.
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

  std::mutex backlog_mutex_;  // held while the store is read
  Backlog backlog_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;  // of the fleet
  Fleet fleet_;
  bool full_ = false;

  // On the strand.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace davit::recorder

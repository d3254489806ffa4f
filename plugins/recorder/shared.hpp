// What all methods of the plugin share: the store, and what is known of the agents that speak to
// it. Lives as long as the plugin.
#pragma once

#include <davit/outstanding.hpp>
#include <davit/rpc.hpp>
#include <davit/storage.hpp>
#include <davit/turn_runner.hpp>

#include "agent_metrics.hpp"
#include "epochs.hpp"
#include "limits.hpp"
#include "roster.hpp"
#include "status_scan.hpp"

namespace davit::recorder {

class Shared {
 public:
  Shared(Host host, storage::Client storage, std::chrono::milliseconds agents_stale_after,
         const Limits& limits);

  const Host host;
  const storage::Client storage;
  const Limits limits;
  std::vector<std::string> kinds;  // of this server; set in wire()
  Outstanding outstanding;
  TurnRunner turns;
  AgentMetrics agents;
  Metric statuses, refused, errors;

  void start();
  void stop();

  // ctrl.v1 has no sequence: the server gives one that grows, the time in microseconds. Any thread.
  uint64_t next_sequence();
  // Runs `then` on the storage's pool as soon as it is known with what epochs the statuses of the
  // store were reported; so that a server whose clock was set back does not give lower ones. Any
  // thread.
  void knowing_epochs(StatusScan::Then then);
  // The least epoch for a status of the region that nothing stored is above; 0: any. Blocks.
  uint64_t epoch_above(const std::string& region);
  // Statuses of the region were taken; the greatest epoch of them. Any thread.
  void reported(const std::string& region, uint64_t epoch);

  // Stores what an agent said of itself, and answers with what `answer` makes of the epoch that the
  // agent's is not above (0: none). Blocks.
  void progress(const Progress& said, const std::function<std::string(uint64_t)>& answer,
                const rpc::Server::Reply& reply);

 private:
  // The epoch that is taken, once the agent has its place.
  Result<uint64_t> introduce(const Progress& said);
  // Under the mutex.
  Result<> read_agents();
  Result<> make_room(const Progress& said);

  std::atomic<uint64_t> sequence_{0};
  StatusScan scan_;

  std::mutex mutex_;
  Epochs epochs_;
  Roster roster_;
  std::optional<std::chrono::nanoseconds> agents_read_at_;
};

}  // namespace davit::recorder

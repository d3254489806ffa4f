// What all methods of the plugin share: the store, the turns of the regions, and what the recorder
// knows of the agents. Lives as long as the plugin.
#pragma once

#include <davit/delays.hpp>
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
  const Operations operations;    // what stop cancels
  const storage::Client storage;  // for what several calls share; a call's own work is under its op
  const Limits limits;
  std::vector<std::string> kinds;  // the kinds of this server; set in wire()
  Outstanding outstanding;
  TurnRunner turns;       // of the regions
  TurnRunner kind_turns;  // of the kinds in each region, for calls that ask a kind
  AgentMetrics agents;
  Delays delays{std::chrono::hours(1)};  // reports that their kind cannot read now
  Metric statuses, refused, errors;

  void start();
  void stop();

  // ctrl.v1 has no sequence, so the server gives one: the time in microseconds, strictly growing.
  // [any]
  uint64_t next_sequence();
  // Runs `then` on the storage's pool when the epochs of all stored statuses and agents are known.
  // Otherwise a server whose clock was set back could give lower epochs. [any]
  void knowing_epochs(StatusScan::Then then);
  // The least epoch above all known epochs of the region; 0: none is known. [any]
  Epoch epoch_above(const std::string& region);
  // Statuses of the region are about to be stored; `epoch` is the greatest of them. [any]
  void reported(const std::string& region, Epoch epoch);

  // A call of the store failed. A caller that gave up is no error.
  void failed(const Error& error) const;

  // Stores an agent's progress and replies, on behalf of `caller`. `answer` makes the response of
  // the epoch that the agent's is not above (0: none). Blocks; or replies later, when another call
  // reads the agents now.
  using Answer = std::function<std::string(Epoch)>;
  void progress(const Operation& caller, const Progress& said, const Answer& answer,
                const rpc::Server::Reply& reply);

 private:
  // Of a request that came late: the epoch that the agent's is not above, 0: none.
  std::optional<Epoch> epoch_of_late(const Progress& said);
  // Whether the agents are to be read first: for a newcomer or a new epoch.
  bool is_new(const Progress& said);
  // Gives the agent a place and stores what it said. Blocks.
  void keep(const Operation& caller, const Progress& said, const Answer& answer,
            const rpc::Server::Reply& reply);
  // Returns the epoch that the agent's is not above, 0: none.
  Result<Epoch> introduce(const Progress& said);
  bool epoch_known(const Progress& said);
  Result<> make_room(const Progress& said);

  // Reads the agents and then runs `then`: within this call, or, when another call reads them now,
  // later on the storage's pool. Once for many that come together. Blocks.
  void knowing_agents(StatusScan::Then then);
  Result<> read_agents();

  std::atomic<uint64_t> sequence_{0};
  StatusScan scan_;

  // Neither is held during a call of the store. This one before epochs_mutex_.
  std::mutex mutex_;
  Roster roster_;
  std::optional<std::chrono::nanoseconds> agents_read_at_;
  bool reading_agents_ = false;
  std::vector<StatusScan::Then> wait_for_agents_;

  std::mutex epochs_mutex_;
  Epochs epochs_;
};

}  // namespace davit::recorder

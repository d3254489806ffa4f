// A kind's report method of ctrl.v1 (ReportDeploymentStatus and its like): found by the kind's
// description, turned into a status by the kind, and laid to the record that has the reported name.
#pragma once

#include <davit/kind.hpp>
#include <davit/outstanding.hpp>
#include <davit/rpc.hpp>
#include <davit/storage.hpp>

#include "agent_metrics.hpp"
#include "epochs.hpp"

namespace davit::recorder {

// What all methods share; lives as long as the plugin.
struct Shared {
  Shared(Host host, storage::Client storage, std::chrono::milliseconds agents_stale_after);

  Host host;
  storage::Client storage;
  Outstanding outstanding;
  AgentMetrics agents;
  Metric statuses, refused, errors;
  // ctrl.v1 has no sequence: the server gives one that grows, over restarts too.
  std::atomic<uint64_t> sequence{0};
  uint64_t next_sequence();

  // Stores what an agent said of itself, and answers with what `answer` makes of the epoch that the
  // agent's is not above (0: none). Blocks.
  void progress(const Progress& progress, const std::function<std::string(uint64_t)>& answer,
                const rpc::Server::Reply& reply);

 private:
  Result<uint64_t> epoch_taken(const Progress& said);
  std::mutex epochs_mutex_;
  Epochs epochs_;
  std::optional<std::chrono::nanoseconds> epochs_read_at_;
};

// What a report is about.
struct Reported {
  Named named;
  Status status;
};

// Finds the record: the live one of the name, else all that died under it, for a peer that knows
// names only. NOT_FOUND when none has the name, FAILED_PRECONDITION when several namespaces have
// it. Blocks.
Result<std::vector<Key>> find_records(const storage::Client& storage, const std::string& kind,
                                      const std::string& region, const Named& named);

// In wire() only; does nothing for a kind without a report. `shared` outlives every call.
Result<> serve_ctrl_report(Shared& shared, const rpc::Server& server, const kind::Client& kind);
Result<> serve_heartbeat(Shared& shared, const rpc::Server& server);

}  // namespace davit::recorder

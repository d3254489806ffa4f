// What a storage backend and its callers share beside the records: visitors and requests.
#pragma once

#include "records.hpp"
#include "storage_hints.hpp"

namespace davit {

// Which agents to read: those above (after_region, after_agent).
struct AgentRead {
  std::string region;  // empty: any
  std::string after_region, after_agent;
  uint32_t limit = 100;
};

namespace storage {

// Return false to stop.
using VisitRecord = std::function<bool(const Record&)>;
using VisitStatus = std::function<bool(const Status&)>;
using VisitProgress = std::function<bool(const Progress&)>;
using VisitCursor = std::function<bool(const Cursor&)>;

// Only the requested steps run. With none requested, the backend does its routine housekeeping.
struct Maintain {
  struct ForgetAgent {
    std::string region, agent;    // empty agent: no agent is to be forgotten
    int64_t seen_at_unix_ms = 0;  // an agent that was seen later is kept
  };
  bool purge = false;
  uint64_t purge_through = 0;
  ForgetAgent forget{};
  bool forgets() const { return !forget.agent.empty(); }
};

}  // namespace storage
}  // namespace davit

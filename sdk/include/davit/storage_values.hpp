// What a storage backend and its callers share beside the records: visitors and requests.
#pragma once

#include "storage_hints.hpp"
#include "storage_reads.hpp"

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

// See davit_storage_limits.
struct Limits {
  uint32_t group_records = UINT32_MAX;
  uint64_t record_bytes = UINT64_MAX, group_bytes = UINT64_MAX;
  uint32_t report_statuses = UINT32_MAX;
  uint64_t report_bytes = UINT64_MAX;
};

// Only the requested steps run. With none requested, the backend does its routine housekeeping.
struct Maintain {
  struct ForgetAgent {
    std::string region, agent;    // empty agent: no agent is to be forgotten
    int64_t seen_at_unix_ms = 0;  // an agent that was seen later is kept
  };
  bool purge = false;
  Version purge_through{};
  ForgetAgent forget{};
  bool forgets() const { return !forget.agent.empty(); }
};

}  // namespace storage

inline davit_storage_limits to_abi(const storage::Limits& l) {
  return {sizeof(davit_storage_limits),
          l.group_records,
          l.record_bytes,
          l.group_bytes,
          l.report_statuses,
          0,
          l.report_bytes};
}
inline storage::Limits from_abi(const davit_storage_limits& l) {
  return {l.group_records, l.record_bytes, l.group_bytes, l.report_statuses, l.report_bytes};
}

}  // namespace davit

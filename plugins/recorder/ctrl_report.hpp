// Serves the ctrl.v1 methods: Heartbeat, and the report method of each kind
// (ReportDeploymentStatus, ...), which the kind's description names. The kind turns a report into a
// status. The status is stored for the record that has the reported name.
#pragma once

#include <davit/kind.hpp>

#include "shared.hpp"

namespace davit::recorder {

// A decoded report: the name that it is about, and the status.
struct Reported {
  Named named;
  Status status;
};

// Finds the records that a report means when the peer knows names only: the live record of the
// name, or, when none lives, all deleted records that had it. NOT_FOUND: no record has the name.
// FAILED_PRECONDITION: records of several namespaces have it. Blocks.
Result<std::vector<Record>> find_records(const storage::Client& storage, const std::string& kind,
                                         const std::string& region, const Named& named);

// In wire() only. serve_ctrl_report does nothing for a kind without a report method. `shared`
// outlives every call.
Result<> serve_ctrl_report(Shared& shared, const rpc::Server& server, const kind::Client& kind);
Result<> serve_heartbeat(Shared& shared, const rpc::Server& server);

}  // namespace davit::recorder

// A kind's report method of ctrl.v1 (ReportDeploymentStatus and its like): found by the kind's
// description, turned into a status by the kind, and laid to the record that has the reported name.
#pragma once

#include <davit/kind.hpp>

#include "shared.hpp"

namespace davit::recorder {

// What a report is about.
struct Reported {
  Named named;
  Status status;
};

// Finds the record: the live one of the name, else all that died under it, for a peer that knows
// names only. NOT_FOUND when none has the name, FAILED_PRECONDITION when several namespaces have
// it. Blocks.
Result<std::vector<Record>> find_records(const storage::Client& storage, const std::string& kind,
                                         const std::string& region, const Named& named);

// In wire() only; does nothing for a kind without a report. `shared` outlives every call.
Result<> serve_ctrl_report(Shared& shared, const rpc::Server& server, const kind::Client& kind);
Result<> serve_heartbeat(Shared& shared, const rpc::Server& server);

}  // namespace davit::recorder

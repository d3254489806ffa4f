// Status envelopes and progress between the davit.v1 wire and the storage contract. Pure.
#pragma once

#include <davit/records.hpp>

namespace davit::v1 {
class ProgressRequest;
class Status;
}  // namespace davit::v1

namespace davit::recorder {

// Why it cannot be taken (INVALID_ARGUMENT), or the status as the store wants it. `now_unix_ms`
// stands in for a report that does not say when.
Result<Status> from_wire(const v1::Status& status, const std::string& region, int64_t now_unix_ms);

Progress from_wire(const v1::ProgressRequest& progress, const std::string& region,
                   int64_t now_unix_ms);

// What the header x-davit-observed says, which our own agent adds to reports over ctrl.v1 because
// that wire has no field for it: "version=12;desired=2;updated=2;ready=2;stale=0;health=healthy",
// also epoch, sequence and the record's id. Parts that are unknown or malformed are passed over:
// the header is an extra, never a reason to refuse.
void apply_observed_header(std::string_view header, Status& status);

}  // namespace davit::recorder

// Turns statuses and progress of the davit.v1 wire into those of the storage contract, and reads
// the header x-davit-observed of ctrl.v1 reports. Pure.
#pragma once

#include <davit/records.hpp>

namespace davit::v1 {
class ProgressRequest;
class Status;
}  // namespace davit::v1

namespace davit::recorder {

// Returns the status as the store takes it, or INVALID_ARGUMENT with the reason. `now_unix_ms`
// replaces the time of a report that has none.
Result<Status> from_wire(const v1::Status& status, const std::string& region, int64_t now_unix_ms);

Progress from_wire(const v1::ProgressRequest& progress, const std::string& region,
                   int64_t now_unix_ms);

// Applies the header x-davit-observed to the status. Davit's agent adds the header to ctrl.v1
// reports for what that wire has no field for:
// "version=12;desired=2;updated=2;ready=2;stale=0;health=healthy", also epoch, sequence, gone=1 and
// the record's id. Unknown and malformed parts are ignored: the header is optional and never a
// reason to refuse.
void apply_observed_header(std::string_view header, Status& status);

}  // namespace davit::recorder

// The parts of the answers of Status, WatchStatus and ListStatus. StatusView and StatusPages put
// the answers together from them. Pure.
#pragma once

#include <set>

#include "conditions.hpp"

namespace davit::v1 {
class AgentStatus;
class ObjectStatus;
class Status;
class StatusResponse;
}  // namespace davit::v1

namespace davit::desired {

// Which records a request asks for. An empty field means any.
struct Selection {
  std::string kind, region, id;
  bool takes(const Key& key) const {
    return (kind.empty() || key.kind == kind) && (region.empty() || key.region == region) &&
           (id.empty() || key.id == id);
  }
};

// The desired side of an answer: a record as far as a status answer shows it.
struct Wanted {
  std::string ns, name, state;
  Version version{};
  bool live = true;
  int64_t committed_at_unix_ms = 0;
  Condition unsent;  // why Krane's agents do not get it; empty: they do, or it was not asked
};
Wanted wanted(const davit_record& record);
// True: an agent has confirmed that nothing is left of the deleted record. A status of an earlier
// life of the record confirms nothing. A ctrl.v1 report may have no version (0); it confirms.
inline bool is_gone(const Wanted& record, const Status& observed) {
  const bool of_this_death =
      !observed.observed_version || observed.observed_version >= record.version;
  return !record.live && observed.gone && of_this_death;
}
// True: an answer shows the record. Stopped and archived records are shown; deleted ones are shown
// while something of them is left. `observed` may be NULL.
inline bool is_shown(const Wanted& record, const Status* observed) {
  return record.live || record.state != "deleted" ||
         (observed != nullptr && !is_gone(record, *observed));
}

void to_wire(const Status& status, v1::Status* out);
void to_wire(const Agent& agent, v1::AgentStatus* out);
// `observed` may be NULL.
void render(const Key& key, const Wanted& record, const Status* observed,
            const Conditions& conditions, v1::ObjectStatus* out);
void render(const Selection& selection, const Conditions& conditions, v1::StatusResponse* out);
// Writes those of the regions that have a condition.
void render(const std::set<std::string>& regions, const Conditions& conditions, int64_t now_unix_ms,
            v1::StatusResponse* out);

}  // namespace davit::desired

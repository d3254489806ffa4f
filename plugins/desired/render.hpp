// What the answers of Status, WatchStatus and ListStatus are made of. Pure.
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

// Empty means any.
struct Selection {
  std::string kind, region, id;
  bool takes(const Key& key) const {
    return (kind.empty() || key.kind == kind) && (region.empty() || key.region == region) &&
           (id.empty() || key.id == id);
  }
};

// What a status says of the record it is beside.
struct Wanted {
  std::string ns, name, state;
  uint64_t version = 0;
  bool live = true;
  int64_t committed_at_unix_ms = 0;
  std::string unsent;  // why agents of Krane's are not sent it; empty: they are, or nobody asked
};
Wanted wanted(const davit_record& record);
// Its agent has confirmed that nothing is left of it. What was said of an earlier life of the
// record confirms nothing; who reports by ctrl.v1 may have no version to say it of (0).
inline bool is_gone(const Wanted& record, const Status& observed) {
  const bool of_this_death =
      observed.observed_version == 0 || observed.observed_version >= record.version;
  return !record.live && observed.gone && of_this_death;
}
// Records are, stopped and archived ones too; deleted ones while something is left of them.
// `observed` may be NULL.
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
// Of each of these regions that something is wrong with.
void render(const std::set<std::string>& regions, const Conditions& conditions, int64_t now_unix_ms,
            v1::StatusResponse* out);

}  // namespace davit::desired

// RecordEntry: everything the applier knows of one record of one kind, by the record's name in the
// cluster: what is wanted, what became of it, what was applied for it and what is observed of it.
// RecordTable owns the entries; the hub uses them on the applier's strand.
//
// Work is keyed by the name, not by the id. A record that reuses a name touches the same objects as
// its predecessor, so the two are never processed concurrently. A delete of a ctrl.v1 peer names
// nothing but the name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/records.hpp>
#include <davit/types.hpp>

#include "applied.hpp"
#include "parking.hpp"
#include "repairs.hpp"

namespace davit::applier {

struct ObservedObject;

// The intent for a record.
enum class Intent : uint8_t {
  unknown,  // no record is known, only observed objects
  apply,
  remove,
  hold,    // the objects are left alone
  orphan,  // the store does not name it any more, and it may not be deleted
};

// A deleted record. The name is empty when another record has it. `version`: of the delete, or the
// one as of which the record is known to be deleted.
struct GoneRecord {
  std::string id, ns, name;
  Version version{};
};

struct RecordEntry {
  enum class State : uint8_t { pending, settled, parked };

  uint64_t number = 0;
  std::string ns, name;
  // Empty: a ctrl.v1 delete, which names no id, or an entry with nothing but observed objects. Only
  // RecordTable sets it.
  std::string id;
  // Records that had this name before. A predecessor is reported as gone when nothing with the name
  // is left. One that is known to be deleted is also reported as gone once the objects are this
  // record's. A restored store may know only the predecessors.
  struct Predecessor {
    std::string id;
    Version version{};  // its last, or the one as of which it is known to be deleted
    bool deleted = false;
    bool operator==(const Predecessor&) const = default;
  };
  std::vector<Predecessor> predecessors;
  // The entry's record was deleted in this version and another record has taken its name. The
  // change of that other record is still to come, and decides about the objects. 0: this is not the
  // case.
  Version taken_over_at{};
  // In this incarnation another record with the name was deleted, and the delete was left out
  // because this entry's record lived. 0: none since the entry's newest change.
  Incarnation other_deleted_in{};

  Intent intent = Intent::unknown;
  Version version{};
  Incarnation incarnation{};  // of the store that named the version; 0: the peer tells none
  Buffer payload;             // apply: the message; hold: the reason
  std::string record_state;   // the record's state word; empty: the peer does not send it
  Pairs annotations;          // the record's
  uint64_t snapshot = 0;      // number of the snapshot during which it was named last
  // The snapshot of this version did not name it, so it is pruned; 0: not pruned.
  Version pruned_at{};
  std::vector<Version> outstanding;  // accepted versions that are not settled
  State state = State::pending;
  bool out = false;  // a reconciliation has it

  // One of its objects names this incarnation, which the server has not explained yet. 0: none.
  Incarnation unplaced{};
  Cursor applied_at;  // the version and incarnation that were applied last
  Buffer runs;        // the message that was applied last: what runs, whatever came since
  AppliedObjects applied;
  std::vector<ObservedObject*> objects;

  Backoff backoff;
  Parking parking;
  Repairs repairs;
  std::string issue;            // the issue last reported; empty: none
  std::string issue_id;         // id of the record for which it was reported
  uint64_t status_offered = 0;  // fingerprint of the status last offered; 0: none
  bool withheld = false;  // a status was withheld because a watch it depends on is not trusted
};

}  // namespace davit::applier

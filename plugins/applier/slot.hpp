// Slot: all the applier knows of one record of one kind, by its name in the cluster: what is
// wanted, what became of it, what was applied for it and what is observed of it. Slots live in
// Desired, on the applier's strand.
//
// The name, not the id, is the key of the work: two ids that follow each other on one name touch
// the same objects and must never be worked on at once, and a ctrl.v1 peer's deletes name nothing
// else.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/records.hpp>
#include <davit/types.hpp>

#include "repairs.hpp"

namespace davit::applier {

struct ObservedObject;

enum class Wish : uint8_t {
  unknown,  // no record is known: only observed
  apply,
  remove,
  hold,    // do not touch
  orphan,  // not named by the store any more, and not ours to delete
};

// One object as we applied it last.
struct Applied {
  uint64_t rendered = 0;   // fingerprint of what the kind rendered, with our stamps but the version
  uint64_t projected = 0;  // the API server's answer, cut to that shape
  std::string uid, resource_version;
  Cursor made_of;
};
using AppliedObjects = std::map<std::string, Applied>;  // by path

struct Slot {
  enum class State : uint8_t { pending, settled, parked };

  uint64_t number = 0;
  std::string ns, name;
  // Empty: not told (a ctrl.v1 delete), or nothing but observed objects. Desired's to set.
  std::string id;
  // Records that had this name before. Nothing is left of them once nothing stands under it, or,
  // of those that are known to be dead, once what stands there is this record's; a restored store
  // may know of them alone.
  struct Predecessor {
    std::string id;
    uint64_t version = 0;  // its last, or the one as of which it is known to be dead
    bool dead = false;
    bool operator==(const Predecessor&) const = default;
  };
  std::vector<Predecessor> had_it_before;
  // The record died with this version and another one has taken its name: what stands here is for
  // the word about that one, which is to come. 0: it has not.
  uint64_t taken_over_at = 0;

  Wish wish = Wish::unknown;
  uint64_t version = 0;
  uint64_t incarnation = 0;           // of the store that said so; 0: the peer does not tell
  Buffer payload;                     // apply: the message; hold: why
  uint64_t snapshot = 0;              // number of the snapshot in whose time it was named last
  uint64_t pruned_at = 0;             // no snapshot of this version named it: it is to go
  std::vector<uint64_t> outstanding;  // accepted versions that are not settled
  State state = State::pending;
  bool out = false;        // a worker has it
  bool held_back = false;  // its group has no room

  uint64_t unplaced = 0;  // an object of it names this incarnation, which nobody has explained yet
  Cursor applied_at;      // the record's version, and its incarnation
  Buffer runs;            // the message that was applied last: what runs, whatever came since
  AppliedObjects applied;
  std::vector<ObservedObject*> objects;

  Backoff backoff;
  bool counted_parked = false;  // in the gauge
  std::string parked;           // why; empty: it is not
  std::chrono::nanoseconds parked_until{0};
  size_t parked_on = SIZE_MAX;  // the watch of what it was parked for; SIZE_MAX: of none
  uint64_t parked_grounds = 0;  // what its objects said then
  // A change of its objects, or a watch that works again, ends the park from then on: who keeps
  // changing them must not make us try all the time.
  std::chrono::nanoseconds parked_at_least_until{0};
  Backoff park_backoff;
  std::chrono::nanoseconds refused_since{0};  // a right is refused since then; 0: none is
  Repairs repairs;
  std::string issue;         // last told; empty: none
  std::string issue_id;      // of the record that it was told of
  uint64_t status_told = 0;  // fingerprint of the status last offered; 0: none
  bool untold = false;       // a status was kept back, for not all that it is made of is seen
};

}  // namespace davit::applier

// Drift: decides what is to be done about one object that a record wants. It compares what the kind
// has rendered, what the cluster has, what this process applied last, and the store's history. A
// reconciliation collects these values, asks, and carries out the answer. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "applied.hpp"
#include "ownership.hpp"

namespace davit::applier {

enum class Drift : uint8_t {
  none,          // the object is as wanted
  examine,       // its version does not tell: ask again with its content
  read,          // no watch shows it: read it with a GET and ask again
  apply,         // it is not as wanted, and nobody else is to blame
  repair,        // somebody has changed or deleted it: apply it, and count the repair
  repair_later,  // somebody keeps changing it: repair it after the repair's wait
  remake_later,  // somebody keeps deleting it: apply it after the repair's wait
  terminating,   // it is being deleted
  foreign,       // it belongs to somebody else
  not_adopted,   // it has no stamp of ours, and `adopt` is false
  made_later,    // it was made of a later version than this agent knows
  unplaced,      // it names an incarnation of the store that this agent has not heard of
};

// The object as the kind has rendered it.
struct WantedObject {
  uint64_t rendered = 0;  // its fingerprint, with our stamps
  bool shared = false;    // several records want it, so no version of one record fences it
  bool adopt = true;      // it may replace an object without stamps of ours
};

// What the object in the cluster says.
struct ObjectContent {
  std::string owner;         // another owner whom its stamps or its name give; empty: none
  bool stamped = false;      // it carries this region's stamp
  bool terminating = false;  // it is being deleted
  uint64_t projected = 0;    // its fingerprint, cut to the shape of the rendered object
  std::string hash;          // its stamp davit.dev/hash
  Cursor made_of;            // its stamps davit.dev/incarnation and davit.dev/version
};

// The object in the cluster, as far as it is known.
struct ObjectState {
  enum class Presence : uint8_t {
    unseen,  // no watch shows it, and its watch cannot be trusted or does not exist
    hidden,  // its watch is complete and does not show it: it may lack our labels
    absent,  // it was read and is not there
    known,   // a watch shows it, or it was read
  };
  Presence presence = Presence::unseen;
  std::string resource_version;          // known: its version
  std::optional<ObjectContent> content;  // known: nullopt until it is examined
};

struct LastApply {
  const Applied* applied = nullptr;         // NULL: this process has not applied the object
  std::chrono::nanoseconds repair_wait{0};  // for so long the next repair has to wait
  bool expired = false;                     // what was resolved for it is not valid any more
};

// `examine` is returned only for a known object without content, `read` only for one that was not
// read yet. So at most two more questions follow.
Drift drift(const WantedObject& wanted, const ObjectState& state, const LastApply& last,
            const Knowledge& known);

// Whether the object may be this record's: `none`, `foreign` or `not_adopted`.
Drift ownership(const std::string& owner, bool stamped, bool adopt);

// The fence: whether an object that was made of this may be changed or deleted: `none`,
// `made_later` or `unplaced`.
Drift fence(Cursor made_of, const Knowledge& known);

}  // namespace davit::applier

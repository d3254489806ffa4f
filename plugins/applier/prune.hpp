// Prune: what may be removed from the cluster because a complete snapshot did not name it. Pure,
// and the one place where an object can be deleted without anybody having asked for it: every doubt
// means no.
//
// It judges records, not objects: a candidate is a record that the snapshot did not name although
// objects that we own stand in the cluster for it. What may go is deleted by its kind in the kind's
// own order; what may not is orphaned: shown, never touched, until it is named again or a person
// removes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <davit/records.hpp>

namespace davit::applier {

struct PruneRules {
  bool on_close = false;  // a clean close of a stream without bookmarks counts as a snapshot's end
  uint64_t share_max_percent = 50;
  uint64_t always_allowed =
      10;  // so many may go whatever their share: a small region may shrink to nothing
};

struct Candidate {
  uint64_t slot = 0;
  std::vector<Cursor> made_of;  // what its objects' stamps say; empty: they have lost them
  // The snapshot has named its tombstone, and that is younger than all its objects: it was deleted
  // by somebody's word.
  bool proven_dead = false;
  bool disputed = false;  // an object's annotation names another record than its own name does
};

// Tombstones that a snapshot has named: of "namespace/name" and id the version.
using Tombstones = std::map<std::pair<std::string, std::string>, uint64_t>;

// What the peer has told of its history before, and what it tells when a stream goes on: from the
// incarnation of the cursor on. Empty: nothing, but that the stream is in the incarnation of `at`.
History continued(History before, const History& told, Cursor at);

// A snapshot that has ended.
struct SnapshotEnd {
  History history;                     // the store's; empty: the peer has none to tell
  std::optional<uint64_t> live_count;  // what the peer says it named
  uint64_t counted = 0;                // what we counted
  std::optional<uint64_t> at_version;  // what it is a picture of; of an empty store 0
  bool quiet = false;  // nobody said that it has: the peer has merely been silent for long

  // Nothing may be removed for it, and what this process has heard of before is no orphan either:
  // the peer may have left out what lives.
  bool proves_nothing(const PruneRules& rules) const {
    return quiet || (!live_count && !rules.on_close);
  }

  // All changes up to there have been heard.
  void reach(Cursor at);
  // The stream goes on in another incarnation.
  void go_on(const History& told, Cursor at);
};

struct Verdict {
  struct Orphan {
    uint64_t slot;
    std::string why;
  };
  std::vector<uint64_t> remove;
  std::vector<Orphan> orphans;
  std::string refusal;  // why candidates that might have gone may not; empty: none was refused
};

Verdict prune(const SnapshotEnd& end, const std::vector<Candidate>& candidates,
              const PruneRules& rules);

}  // namespace davit::applier

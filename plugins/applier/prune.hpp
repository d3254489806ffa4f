// Prune: decides which records may be removed from the cluster because a complete snapshot did not
// name them. The hub calls it at the end of a snapshot and carries out the decision. Pure. This is
// the only place where an object can be deleted without a request to do so, so every doubt means
// no.
//
// The decision is about records, not objects. A candidate is a record that the snapshot did not
// name although the cluster has objects with our stamps for it. The kind deletes what may go, in
// its own order. What may not go becomes orphaned: it is shown and left alone until the store names
// it again or a person removes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <davit/records.hpp>

namespace davit::applier {

struct PruneRules {
  // A clean close of a stream without bookmarks counts as the end of a snapshot.
  bool on_close = false;
  uint64_t share_max_percent = 50;
  // So many may go whatever their share: a small region may shrink to nothing.
  uint64_t always_allowed = 10;
};

struct Candidate {
  uint64_t entry = 0;
  // From its objects' stamps; empty: the objects have lost their annotations.
  std::vector<Cursor> made_of;
  // The snapshot has named the record's tombstone, and the tombstone is younger than all of its
  // objects: somebody has deleted the record.
  bool proven_deleted = false;
  bool disputed = false;  // an object's annotation names another record than the object's name does
};

// The tombstones that a snapshot has named: from "namespace/name" and id to the version.
using Tombstones = std::map<std::pair<std::string, std::string>, Version>;

// The store's history after a stream goes on. `before` is what the peer has told earlier; `told` is
// what it tells now, from the cursor's incarnation on. `told` empty: the peer tells nothing, but
// the stream is in the incarnation of `at`.
History continued(History before, const History& told, Cursor at);

// A snapshot that has ended.
struct SnapshotEnd {
  History history;                     // the store's; empty: the peer tells none
  std::optional<uint64_t> live_count;  // the number of live records the peer says it named
  uint64_t counted = 0;                // the number of live records that we counted
  // All changes up to this version have been heard; 0: an empty store; nullopt: the peer named
  // none.
  std::optional<Version> at_version;
  bool quiet = false;  // nobody said that it has ended: the peer has only been silent for long

  // True: nothing may be removed because of this snapshot. A record that this process has heard of
  // does not become an orphan either, because the peer may have left out what lives.
  bool proves_nothing(const PruneRules& rules) const {
    return quiet || (!live_count && !rules.on_close);
  }

  // False: the peer has named more or fewer live records than we counted, so what it did not name
  // may live.
  bool whole() const { return !live_count || *live_count == counted; }

  // All changes up to `at` have been heard.
  void reach(Cursor at);
  // The stream goes on in another incarnation.
  void go_on(const History& told, Cursor at);
};

// Why the store may have lost a candidate, which is then never removed; empty: its record was
// deleted.
std::string lost(const SnapshotEnd& end, const Candidate& candidate);

// What is to become of the candidates. A candidate is in one of the two lists.
struct PruneDecision {
  struct Orphan {
    uint64_t entry;
    std::string why;
  };
  std::vector<uint64_t> remove;
  std::vector<Orphan> orphans;
  std::string refusal;  // why candidates that might have gone may not; empty: none was refused
};

PruneDecision prune(const SnapshotEnd& end, const std::vector<Candidate>& candidates,
                    const PruneRules& rules);

}  // namespace davit::applier

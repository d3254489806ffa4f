// Cursor: up to where one stream may be committed, that is, what the agent reports as applied, and
// what it asks with when it connects again. One per stream, on its strand, between the peer's
// messages and the change sink's answers. Pure.
//
// The rule: in a snapshot nothing is committed before its bookmark or clean close; afterwards the
// cursor is the highest version such that it and all before it are applied, held or parked. Against
// a peer without bookmarks, the per-apply rule alone.
#pragma once

#include <cstdint>
#include <map>

#include <davit/records.hpp>

namespace davit::watcher {

using Position = davit::Cursor;

class Cursor {
 public:
  // The peer said what it sends. What was offered before stays counted.
  void begin(bool snapshot, Position at);
  // Connected to a peer that has no bookmarks.
  void begin_without_bookmarks();

  // A change was accepted by the sink; each is settled once.
  void offered(uint64_t version);
  void settled(uint64_t version);

  // Everything up to `at` was sent; snapshot_end: and the snapshot is complete.
  void bookmark(Position at, bool snapshot_end);
  // The stream ended with OK: it had caught up.
  void closed_clean();
  // OUT_OF_RANGE: the position is void; the next stream is a snapshot.
  void refused();

  // What is applied. Moves back only by begin and refused.
  Position committed() const { return committed_; }
  // What to ask with, version 0 = a snapshot: all that came, for the sink has it. A store that has
  // lost some of it refuses this, and would not refuse what was committed.
  Position received() const {
    return snapshot_ || through_ == 0 ? Position{} : Position{history_, through_};
  }
  bool in_snapshot() const { return snapshot_; }
  size_t outstanding() const { return outstanding_.size(); }

 private:
  void advance();

  Position committed_;
  uint64_t history_ = 0;                      // incarnation last heard of; 0: none yet
  uint64_t sent_ = 0;                         // highest version the peer has sent
  uint64_t through_ = 0;                      // everything up to it was sent
  bool snapshot_ = false;                     // between its begin and its end
  std::map<uint64_t, uint32_t> outstanding_;  // version -> times offered and not settled
};

}  // namespace davit::watcher

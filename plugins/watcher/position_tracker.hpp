// PositionTracker: decides up to which position a stream is committed, and from which position it
// asks when it connects again. The agent reports the committed position as applied: it is the
// stream's cursor. Each stream has one tracker, on its strand, between the peer's messages and the
// change sink's answers. Pure.
//
// The rule: within a snapshot nothing is committed before the snapshot's bookmark or a clean close.
// Afterwards the cursor is the highest version such that this version and all before it are
// applied, held or parked. With a peer that has no bookmarks the cursor moves with each apply.
#pragma once

#include <cstdint>
#include <map>

#include <davit/records.hpp>

namespace davit::watcher {

class PositionTracker {
 public:
  // The peer began a snapshot or a tail at `at`. Changes offered before stay counted.
  void begin(bool snapshot, Cursor at);
  // The stream connected to a peer that has no bookmarks.
  void begin_without_bookmarks();

  // The sink accepted a change, and later settles it once.
  void offered(Version version);
  void settled(Version version);

  // The peer has sent everything up to `at`. snapshot_end: the snapshot is complete, too.
  void bookmark(Cursor at, bool snapshot_end);
  // The stream ended with OK: the peer had sent everything.
  void closed_clean();
  // The peer answered OUT_OF_RANGE: the position is void, and the next stream is a snapshot.
  void refused();

  // Everything up to here is applied, held or parked. Moves back only by begin and refused.
  Cursor committed() const { return committed_; }
  // The position to ask with; version 0 asks for a snapshot. It covers all that the stream has
  // received, because the sink has it. A restored store that has lost some of it refuses this
  // position; it might not refuse the committed one.
  Cursor received() const { return snapshot_ || !through_ ? Cursor{} : Cursor{history_, through_}; }
  // The incarnation that the peer has named last; 0: none.
  Incarnation incarnation() const { return history_; }
  size_t outstanding() const { return outstanding_.size(); }

 private:
  void advance();

  Cursor committed_;
  Incarnation history_{};                    // incarnation that the peer named last; 0: none yet
  Version sent_{};                           // highest version that the peer has sent
  Version through_{};                        // the peer has sent everything up to this version
  bool snapshot_ = false;                    // within a snapshot
  std::map<Version, uint32_t> outstanding_;  // version -> times offered and not settled
};

}  // namespace davit::watcher

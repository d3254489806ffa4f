#include "position_tracker.hpp"

#include <algorithm>

namespace davit::watcher {

void PositionTracker::begin(bool snapshot, Cursor at) {
  history_ = at.incarnation;
  snapshot_ = snapshot;
  if (snapshot) {
    sent_ = {};
    through_ = {};
    committed_ = {};
  } else {
    // The peer found our position in its history, so the position is in the newest incarnation.
    committed_.incarnation = at.incarnation;
    sent_ = std::max(sent_, committed_.version);
    through_ = std::max(through_, committed_.version);
  }
}

void PositionTracker::begin_without_bookmarks() {
  snapshot_ = false;
}

void PositionTracker::offered(Version version) {
  ++outstanding_[version];
  sent_ = std::max(sent_, version);
  if (!snapshot_) through_ = std::max(through_, version);
}

void PositionTracker::settled(Version version) {
  const auto it = outstanding_.find(version);
  if (it == outstanding_.end()) return;
  if (--it->second == 0) outstanding_.erase(it);
  advance();
}

void PositionTracker::bookmark(Cursor at, bool snapshot_end) {
  if (snapshot_ && !snapshot_end) return;  // within a snapshot the cursor does not move
  snapshot_ = false;
  history_ = at.incarnation;
  sent_ = std::max(sent_, at.version);
  through_ = std::max(through_, at.version);
  advance();
}

void PositionTracker::closed_clean() {
  snapshot_ = false;
  through_ = std::max(through_, sent_);
  advance();
}

void PositionTracker::refused() {
  committed_ = {};
  sent_ = {};
  through_ = {};
  snapshot_ = false;
}

void PositionTracker::advance() {
  if (snapshot_) return;
  Version version = through_;
  if (!outstanding_.empty()) version = std::min(version, outstanding_.begin()->first - 1);
  if (version > committed_.version) committed_ = {history_, version};
}

}  // namespace davit::watcher

#include "line.hpp"

#include <algorithm>

namespace davit::torture {
Cursor Line::opened() {
  begun_ = wire_ == Wire::ctrl_v1;
  staged_.clear();
  named_.clear();
  // Nothing of a snapshot counts before its end. A ctrl.v1 reader whose cluster was empty has
  // nothing to prune, and goes on from wherever it was.
  const Cursor from = snapshot_ ? Cursor() : cursor_;
  sent_ = from.version;
  return from;
}

void Line::begins(bool snapshot, Cursor at) {
  if (begun_) return fault("a stream began twice");
  begun_ = true;
  const bool wanted = snapshot_ || cursor_.version == 0;
  if (snapshot != wanted)
    return fault(snapshot ? "a snapshot although there was a cursor" : "no snapshot at cursor 0");
  snapshot_ = snapshot;
  if (snapshot) return;
  if (at.version != cursor_.version) {
    return fault("asked for what follows " + std::to_string(cursor_.version) +
                 ", and the stream began at " + std::to_string(at.version));
  }
  cursor_.incarnation = at.incarnation;
}

void Line::delivered(uint64_t now, const Delivery& record) {
  const std::string shown =
      "version " + std::to_string(record.version) + " of \"" + record.name + "\"";
  if (!begun_) return fault(shown + " came before the stream's beginning");
  if (record.version <= sent_) {
    return fault(shown + " came after version " + std::to_string(sent_) +
                 (record.version <= cursor_.version && !snapshot_ ? ": twice, or out of order"
                                                                  : ": out of order"));
  }
  sent_ = record.version;
  std::optional<Object> object;
  if (record.live) object = Object{record.id, record.content, record.version};
  Objects& into = snapshot_ ? staged_ : objects_;
  if (object) {
    into[record.name] = *object;
  } else {
    into.erase(record.name);
  }
  if (snapshot_) {
    named_[record.id] = record.live;
  } else {
    cursor_.version = record.version;
    steps_.push_back({now, record.name, std::move(object), record.version, false});
  }
}

void Line::bookmark(uint64_t now, Cursor at) {
  if (!begun_) return fault("a bookmark came before the stream's beginning");
  if (wire_ == Wire::ctrl_v1 && at.version == 0 && sent_ == cursor_.version) {
    // Its cursor is void: everything comes again.
    start_over();
    sent_ = 0;
    return;
  }
  if (at.version < sent_)
    return fault("a bookmark at " + std::to_string(at.version) + " came after version " +
                 std::to_string(sent_));
  if (snapshot_) {
    if (wire_ == Wire::ctrl_v1) return finish_snapshot(now, at);
    return fault("a bookmark came in the middle of a snapshot");
  }
  sent_ = at.version;
  cursor_ = at;
  steps_.push_back({now, {}, {}, at.version, false});
}

void Line::snapshot_end(uint64_t now, Cursor at, uint64_t live_count) {
  if (!begun_ || !snapshot_) return fault("the end of a snapshot that did not begin");
  if (at.version < sent_)
    return fault("a snapshot ended at " + std::to_string(at.version) + ", after version " +
                 std::to_string(sent_));
  const auto live = static_cast<uint64_t>(
      std::count_if(named_.begin(), named_.end(), [](const auto& n) { return n.second; }));
  if (live != live_count) {
    fault("a snapshot named " + std::to_string(live) + " live records and counted " +
          std::to_string(live_count));
    return start_over();  // nobody may prune by it
  }
  finish_snapshot(now, at);
}

void Line::finish_snapshot(uint64_t now, Cursor at) {
  for (const auto& [name, object] : objects_) {
    if (!staged_.count(name)) steps_.push_back({now, name, {}, 0, false});
  }
  for (const auto& [name, object] : staged_) {
    const auto before = objects_.find(name);
    if (before == objects_.end() || before->second != object)
      steps_.push_back({now, name, object, 0, false});
  }
  objects_ = std::move(staged_);
  staged_.clear();
  steps_.push_back({now, {}, {}, at.version, true});
  snapshot_ = false;
  ++snapshots_;
  sent_ = at.version;
  cursor_ = at;
}

void Line::refused(const std::string& why) {
  if (why.find("purge") == std::string::npos) fault("a good cursor was refused: " + why);
  start_over();
}

void Line::start_over() {
  cursor_ = {};
  snapshot_ = wire_ == Wire::davit_v1 || !objects_.empty();
}

}  // namespace davit::torture

// Recent changes in memory: the last changes of every topic (kind and region), bounded by bytes,
// and the frames made of them. A frame is encoded once for all streams at the same position.
//
// The tailer appends changes in version order and then advances the tip. A stream asks for what
// follows its cursor. The ring answers only for cursors of its own incarnation at or above its
// floor. Below the floor changes were dropped, and the stream reads the store instead. So a dropped
// tombstone is never skipped, and a purge of the store does not matter here.
//
// Pure: no clock, lock or thread. Feed owns the ring and guards it with its mutex.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <davit/records.hpp>

#include "change.hpp"

namespace davit::streamer {

struct Topic {
  std::string kind, region;
  auto operator<=>(const Topic&) const = default;
  bool operator==(const Topic&) const = default;
};

// How the streams of one protocol cut records into messages and encode them.
struct Encoding {
  size_t records_max = 128;
  size_t bytes_max = 64 * 1024;  // sum of content_bytes(); a frame has at least one record
  // True: the peer knows records by id. False: it knows them by name. Then holds are left out, and
  // so are deletes of records whose name another record has taken.
  bool by_id = true;
  std::function<Buffer(const Topic&, std::span<const Change* const>)> encode;
  // Where a message has one record and the kind makes it (ctrl.v1), in place of `encode`: makes it
  // on a pool, for Change::made. The ring calls no kind. An error is retryable.
  std::function<Result<Buffer>(const Topic&, const Change&)> make{};

  bool takes(const Change& c) const { return by_id || (c.verb != Verb::hold && !c.name.empty()); }
};

class Ring {
 public:
  Ring(size_t bytes_max, std::vector<Encoding> encodings);

  // Forgets everything. The next changes appended are those that follow `at`.
  void reset(Cursor at);
  // The versions of one kind ascend strictly. Another kind may be further, or less far.
  void append(const Topic& topic, Change change);
  // The same, of a change that cannot be told yet: its kind could not classify it. Streams of the
  // topic that have not passed the version are behind, and read the store until it can.
  void leave_out(const Topic& topic, Version version);
  // Of this kind only the changes up to this version are here yet. Its streams wait there, however
  // far the tip is.
  void hold(const std::string& kind, Version version);
  // The kind has come to the tip, and moves with it again.
  void release(const std::string& kind);
  // Everything up to `tip` has been appended, but of kinds that are held. When its incarnation is a
  // new one, the store must judge the cursors of the old one again.
  void advance(Cursor tip);

  enum class Place {
    unready,  // the tailer has read nothing yet
    behind,   // the cursor is below the floor, of another incarnation, or before what was left
              // out or not made for this encoding: read the store
    frame,    // the step has the changes that follow
    ahead,    // the cursor is above the tip: the stream read the store, or the cursor is invalid
    at_tip,   // nothing follows yet; the cursor may move to `after`
  };
  struct Step {
    Place place = Place::unready;
    Buffer frame;
    size_t records = 0;
    bool caught_up = false;  // nothing is left after this, and the kind is not held
    Cursor after;            // the cursor after this frame
    // The commit time of the frame's newest change. Set only for the first stream that gets that
    // change.
    std::optional<int64_t> committed_at_unix_ms;
  };
  Step next(const Topic& topic, Cursor cursor, size_t encoding);

  Cursor tip() const { return tip_; }
  Cursor floor() const { return {tip_.incarnation, floor_}; }
  size_t bytes() const { return bytes_; }

 private:
  struct Frame {
    size_t encoding;
    Version first;  // version of its first change
    Version last;
    size_t records;
    Buffer buffer;
    int64_t committed_at_unix_ms;  // of its last change
  };
  struct Track {
    std::deque<Change> changes;
    std::deque<Frame> frames;  // a few, oldest first
    Version given{};           // of the newest change that a stream has got
  };
  const Frame* encoded(const Topic& topic, Track& track, size_t from, size_t encoding);
  void evict();

  size_t bytes_max_;
  std::vector<Encoding> encodings_;
  std::map<Topic, Track> tracks_;
  std::deque<std::pair<Version, Topic>> order_;  // oldest first, over all topics
  std::map<Topic, Version> left_out_;            // the last such version of a topic
  std::map<std::string, Version> held_;          // by kind
  size_t bytes_ = 0;
  Version floor_{};
  Cursor tip_;
  bool ready_ = false;
};

}  // namespace davit::streamer

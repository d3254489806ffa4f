// The recent past in memory: the last changes of every topic (kind and region), bounded by bytes,
// and the frames made of them, encoded once for all streams that stand at the same place.
//
// The tailer appends in version order and then advances the tip; a stream asks for what follows its
// cursor. The ring answers only for cursors of its own incarnation at or above its floor: below it
// something was dropped, and the stream reads the store instead. A dropped tombstone is therefore
// never skipped, and what the store purges meanwhile does not matter here. Pure: no clock, lock or
// thread; Feed owns one under its mutex.
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

// How the streams of one protocol cut and encode.
struct Encoding {
  size_t records_max = 128;
  size_t bytes_max = 64 * 1024;  // of bodies; a frame has at least one record
  // The peer knows records by their ids. Else holds, and deletes of records whose name another one
  // has by now, are passed over.
  bool by_id = true;
  std::function<Buffer(const Topic&, std::span<const Change* const>)> encode;
  bool json = false;  // of a page: it takes the JSON that the store keeps

  bool takes(const Change& c) const { return by_id || (c.verb != Verb::hold && !c.name.empty()); }
};

class Ring {
 public:
  Ring(size_t bytes_max, std::vector<Encoding> encodings);

  // Forgets everything: what follows `at` will be appended.
  void reset(Cursor at);
  // In strictly ascending version order, above the tip.
  void append(const Topic& topic, Change change);
  // Everything up to `tip` was appended. Another incarnation than before: cursors of the old one
  // must be judged by the store again.
  void advance(Cursor tip);

  enum class Place {
    unready,  // nothing is known yet
    behind,   // the cursor is below the floor or of another incarnation: read the store
    frame,    // here is what follows
    ahead,  // the cursor is above the tip: the stream read the store itself, or it is of the future
    at_tip,  // nothing follows; the cursor may move to `after`
  };
  struct Step {
    Place place = Place::unready;
    Buffer frame;
    size_t records = 0;
    bool caught_up = false;  // nothing is left after this frame
    Cursor after;            // the cursor after it
    // Of the frame's newest change, when nobody was given that one before.
    std::optional<int64_t> committed_at_unix_ms;
  };
  Step next(const Topic& topic, Cursor cursor, size_t encoding);

  Cursor tip() const { return tip_; }
  Cursor floor() const { return {tip_.incarnation, floor_}; }
  size_t bytes() const { return bytes_; }

 private:
  struct Frame {
    size_t encoding;
    uint64_t first;  // version of the first change in it
    uint64_t last;
    size_t records;
    Buffer buffer;
    int64_t committed_at_unix_ms;  // of the last change in it
  };
  struct Track {
    std::deque<Change> changes;
    std::deque<Frame> frames;  // a few, oldest first
    uint64_t given = 0;        // version of the newest change that somebody was given
  };
  const Frame* encoded(const Topic& topic, Track& track, size_t from, size_t encoding);
  void evict();

  size_t bytes_max_;
  std::vector<Encoding> encodings_;
  std::map<Topic, Track> tracks_;
  std::deque<std::pair<uint64_t, Topic>> order_;  // oldest first, over all topics
  size_t bytes_ = 0;
  uint64_t floor_ = 0;
  Cursor tip_;
  bool ready_ = false;
};

}  // namespace davit::streamer

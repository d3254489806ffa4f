// Pages of the store that several streams want: read and encoded once, sent to all of them. Agents
// that come in together (a new region, a server that was restarted) want the same pages at about
// the same time; who wants one that is being read waits for it.
//
// A page goes as soon as one of its records changes or another takes the name of one of its dead,
// and the last page of a topic with any change: an agent that comes back may already have what is
// newer, and an old page would take it back. A
// page of a snapshot leaves out the tombstones at or below the snapshot's begin, so it may only go
// to snapshots with that same begin. Hence streams that begin shortly after one another share the
// begin, too: an older one only means that a few more tombstones are sent.
//
// Any thread. Knows no clock: the caller says what time it is.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <davit/records.hpp>

#include "census.hpp"
#include "ring.hpp"

namespace davit::streamer {

// One page as the streams of one protocol send it.
struct PageRead {
  Page page;
  size_t records = 0;
  std::vector<Buffer> messages;
  std::shared_ptr<const PageNames> names;
  bool counted = false;              // of a snapshot that ends with a count
  std::vector<uint64_t> dead_names;  // hashes of the names that its dead had

  size_t bytes() const;
  void add_dead(const Change& change);
  bool is_changed_by(const Change& change) const;
};
// What a snapshot begins with.
struct Start {
  Head head;
  std::shared_ptr<const History> history;
};
using PageResult = Result<std::shared_ptr<const PageRead>>;

class PageCache {
 public:
  struct Key {
    Topic topic;
    size_t encoding = 0;
    Cursor cursor;
    uint64_t dead_after = 0;
    bool counted = false;
    bool operator<(const Key&) const;
  };
  using Taker = std::function<void(const PageResult&)>;

  explicit PageCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // The page goes to `taker` when it is there: now, or from whoever calls done(). True: the caller
  // has to read it and call done(), whatever came of it. True again: some who wait for it came
  // after a change that it may not have; it is to be read once more.
  [[nodiscard]] bool want(const Key& key, Taker taker);
  [[nodiscard]] bool done(const Key& key, const PageResult& page);

  // What the tailer has read: before the streams hear of it.
  void changed(const Topic& topic, const Change& change);

  // The same names as those of an earlier reading of this page, where a snapshot still keeps them.
  // A snapshot keeps its names until it ends, long after the page itself has left the cache.
  std::shared_ptr<const PageNames> same(const Key& key, PageNames names);

  // Where a snapshot of the topic began not long ago.
  std::optional<Start> begin(const Topic& topic, std::chrono::nanoseconds now) const;
  void begun(const Topic& topic, const Start& start, std::chrono::nanoseconds now);
  // It cannot be read on from there any more.
  void forget(const Topic& topic);

  size_t bytes() const;
  size_t begins() const;

 private:
  struct Begin {
    Start start;
    std::chrono::nanoseconds at;
  };
  struct Reading {
    uint64_t began = 0;                              // the topic's last change then
    std::vector<std::pair<uint64_t, Taker>> takers;  // and when each of them came
  };
  // The version of the topic's last change, or of a later one.
  uint64_t last_change(const Topic& topic) const;
  static size_t cost(const Key& key, const PageRead& page);
  void evict();
  void take_out(std::map<Key, std::shared_ptr<const PageRead>>::iterator page);
  void forget_names();

  const size_t bytes_max_;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const PageRead>> pages_;
  std::deque<Key> order_;  // of pages_, oldest first
  std::map<Key, Reading> reading_;
  std::map<Topic, Begin> begins_;
  size_t begins_max_ = 64;  // those that are too old are looked for when there are so many
  std::map<Topic, uint64_t> changed_;  // its last change
  uint64_t forgotten_ = 0;  // of those topics whose last change was forgotten: the greatest
  std::map<Key, std::weak_ptr<const PageNames>> names_;
  size_t names_max_ = 64;  // those that are gone are looked for when there are so many
  size_t bytes_ = 0;
};

}  // namespace davit::streamer

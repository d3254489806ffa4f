// The cache of store pages. Each page is read and encoded once and sent to all streams that want
// it. Agents that connect together (a new region, a restarted server) want the same pages at about
// the same time. A stream that wants a page that is being read waits for that read.
//
// A page leaves the cache as soon as one of its records changes, or another record takes the name
// of one of its deleted records. The last page of a topic leaves it with any change of the topic.
// The reason: an agent that reconnects may already have the newer state, and an old page would undo
// it.
//
// A page of a snapshot leaves out the tombstones at or below the snapshot's begin version whose
// removal is confirmed, so only snapshots with the same begin may share it. Therefore snapshots
// that begin shortly after one another share the begin as well. An older begin only means a few
// more tombstones.
//
// [any] It knows no clock: the caller passes the time.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <davit/storage_reads.hpp>

#include "live_count.hpp"
#include "ring.hpp"

namespace davit::streamer {

// One page, encoded for one protocol.
struct PageRead {
  Page page;
  size_t records = 0;
  std::vector<Buffer> messages;
  std::shared_ptr<const PageNames> names;
  bool counted = false;              // a page of a snapshot that ends with a count
  std::vector<uint64_t> dead_names;  // hashes of the names of its deleted records
  // Set when the page ends early, before a record that its kind cannot classify now: why. Such a
  // page is not kept.
  std::optional<Error> delayed{};

  size_t bytes() const;
  void add_dead(const Change& change);
  bool is_changed_by(const Change& change) const;
};
// The begin of a snapshot: the store's head and history at that time.
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
    Version dead_after{};
    bool counted = false;
    bool operator<(const Key&) const;
  };
  using Taker = std::function<void(const PageResult&)>;

  explicit PageCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Calls `taker` with the page: at once when the page is cached, else from done(). True: the
  // caller must read the page and call done() with it or with the error.
  [[nodiscard]] bool want(const Key& key, Taker taker);
  // Hands the page to the takers that wait for it. True: the caller must read the page once more,
  // because some takers came after a change that this page may not have. An error goes to all.
  [[nodiscard]] bool done(const Key& key, const PageResult& page);

  // The tailer has read a change. It calls this before it wakes the streams.
  void changed(const Topic& topic, const Change& change);

  // Returns the names of an earlier read of this page when they are equal and a snapshot still
  // keeps them. A snapshot keeps its names until it ends, long after the page has left the cache.
  std::shared_ptr<const PageNames> same(const Key& key, PageNames names);

  // The begin of a recent snapshot of the topic, for another one to share; nothing: there is none.
  std::optional<Start> begin(const Topic& topic, std::chrono::nanoseconds now) const;
  void begun(const Topic& topic, const Start& start, std::chrono::nanoseconds now);
  // The shared begin of the topic is no longer valid in the store's history.
  void forget(const Topic& topic);

  size_t bytes() const;
  size_t begins() const;

 private:
  struct Begin {
    Start start;
    std::chrono::nanoseconds at;
  };
  struct Reading {
    Version began{};                                // the topic's last change when it began
    std::vector<std::pair<Version, Taker>> takers;  // each with the last change when it came
  };
  // The version of the topic's last change, or a later version.
  Version last_change(const Topic& topic) const;
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
  size_t begins_max_ = 64;            // begins that are too old are removed at this number
  std::map<Topic, Version> changed_;  // the last change of each topic
  Version forgotten_{};               // the greatest of the last changes that were forgotten
  std::map<Key, std::weak_ptr<const PageNames>> names_;
  size_t names_max_ = 64;  // expired names are removed at this number
  size_t bytes_ = 0;
};

}  // namespace davit::streamer

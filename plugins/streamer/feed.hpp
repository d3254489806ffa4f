// The one tailer of this process: it reads what the store has committed, for all kinds and regions
// at once, puts it into the Ring and wakes the streams it concerns. A storage hint starts a read; a
// jittered poll does when hints are lost or not offered. However many streams there are, at rest
// the store sees one query an interval.
//
// The tailer is a job of the storage's pool, one at a time: from a hint to the streams that it
// wakes a change passes from thread to thread only twice. next, join and leave may be called from
// any thread: one mutex guards the ring and the list of ports, and is never held while storage is
// read.
#pragma once

#include <set>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

#include "classifier.hpp"
#include "page_cache.hpp"
#include "ring.hpp"

namespace davit::streamer {

// What a stream hears from the feed, on its strand.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_woken() = 0;     // there may be more in the ring
  virtual void on_tick() = 0;      // a bookmark interval has passed
  virtual void on_shutdown() = 0;  // end now
  virtual void on_replaced() {}    // the peer has begun another one in its place
};

// Where a listener can be reached; outlives it.
struct Port {
  Port(Strand s, Listener* l) : strand(std::move(s)), listener(l) {}
  Strand strand;
  Listener* listener;               // on the strand only; NULL: it has gone
  std::atomic<bool> waking{false};  // a wake-up is on its way: another one would say the same
  uint64_t number = 0;              // given by join
};

// Who came first hears first: an order by address would be another one each time.
struct InOrder {
  bool operator()(const std::shared_ptr<Port>& a, const std::shared_ptr<Port>& b) const {
    return a->number < b->number;
  }
};
using Ports = std::set<std::shared_ptr<Port>, InOrder>;

struct FeedSettings {
  std::chrono::milliseconds poll_interval{1000};
  std::chrono::milliseconds bookmark_interval{10'000};
  size_t ring_bytes = 16 << 20;
};

class Feed {
 public:
  Feed(Host host, Classifier& classifier, PageCache& pages, FeedSettings settings,
       std::vector<Encoding> encodings);

  void wire(storage::Client storage) { storage_ = std::move(storage); }
  void start();
  // Asks every listener to end, and waits until nothing of the feed runs any more.
  Result<> stop(const Op& op);

  Ring::Step next(const Topic& topic, Cursor cursor, size_t encoding);
  // The store's, from that incarnation on. Empty: that is not of it, or nothing has been read yet.
  History history_since(uint64_t incarnation) const;
  // False: the feed is stopping, and the listener must end by itself.
  bool join(const std::shared_ptr<Port>& port, const std::vector<Topic>& topics);
  void leave(const std::shared_ptr<Port>& port, const std::vector<Topic>& topics);
  // Held by every stream and every read: stop waits for them.
  Outstanding& outstanding() { return outstanding_; }

 private:
  struct Batch {
    std::vector<std::pair<Topic, Change>> changes;
    Page page;
    History history;  // empty: it is what it was
  };
  // Reads, now or after the read that is under way. [any]
  void want();
  void read();
  Result<Batch> fetch();
  Result<Batch> with_history(Batch batch);
  bool taken(Batch batch);
  bool failed(const Error& error);
  void schedule_poll();
  void schedule_tick();
  enum class Word { wake, tick, shutdown };
  void tell(const std::vector<std::shared_ptr<Port>>& ports, Word word) const;
  std::vector<std::shared_ptr<Port>> everybody();

  Host host_;
  Classifier& classifier_;
  PageCache& pages_;
  FeedSettings settings_;
  storage::Client storage_;
  Strand strand_;
  Outstanding outstanding_;
  Metric reads_, errors_;

  // On the strand.
  Timer poll_, tick_;
  bool ended_ = false;

  // Of the one read that is under way.
  Cursor cursor_;
  bool known_ = false;     // cursor_ is a place in the store's history
  uint64_t failures_ = 0;  // in a row

  mutable std::mutex mutex_;
  History history_;
  bool reading_ = false;
  bool again_ = false;  // something came while reading
  Ring ring_;
  std::map<Topic, Ports> ports_;
  uint64_t joined_ = 0;
  bool stopping_ = false;
};

}  // namespace davit::streamer

// The one tailer of this process. It reads what the store has committed, for all kinds and regions
// at once, appends it to the Ring and wakes the streams of the changed topics. A hint of the store
// starts a read. A jittered poll starts one when hints are lost or not offered. At rest the store
// sees one query per poll interval, however many streams there are.
//
// The tailer runs as a job on the storage's pool, one at a time. What it has read of a kind waits
// in the kind's lane. A job on the kind's pool, one for each kind, asks the kind about it and
// appends it to the ring, in order. So a kind that takes long delays itself only. A change is
// handed to another thread three times between the hint and the stream, in batches.
//
// next, join and leave may be called from any thread: one mutex guards the ring, the lanes and the
// list of ports. It is never held during a storage read, or while a kind is asked.
#pragma once

#include <deque>
#include <set>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

#include "classifier.hpp"
#include "page_cache.hpp"
#include "ring.hpp"

namespace davit::streamer {

// The feed's calls to a stream, on the stream's strand.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_woken() = 0;     // the ring may have more
  virtual void on_tick() = 0;      // a bookmark interval has passed
  virtual void on_shutdown() = 0;  // end now
  virtual void on_replaced() {}    // the peer has begun a newer watch in its place
};

// The address of a listener. The port outlives its listener.
struct Port {
  Port(Strand s, Listener* l, size_t e) : strand(std::move(s)), listener(l), encoding(e) {}
  Strand strand;
  Listener* listener;               // on the strand only; NULL: the listener is gone
  std::atomic<bool> waking{false};  // a wake-up is posted; a second one would say the same
  const size_t encoding;            // of its listener's protocol
  uint64_t number = 0;              // set by join
};

// Orders ports by the time they joined. An order by address would differ from run to run.
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
  // Tells every listener to end, and waits until no read, stream or point query is left.
  Result<> stop(const Op& op, const Operations& reads = {});

  Ring::Step next(const Topic& topic, Cursor cursor, size_t encoding);
  // The store's history from that incarnation on. Empty: the history does not have that
  // incarnation, or the feed has not read it yet.
  History history_since(Incarnation incarnation) const;
  // False: the feed is stopping, and the listener must end itself.
  bool join(const std::shared_ptr<Port>& port, const std::vector<Topic>& topics);
  void leave(const std::shared_ptr<Port>& port, const std::vector<Topic>& topics);
  // Each stream and each read holds a ticket; stop waits for all of them.
  Outstanding& outstanding() { return outstanding_; }

 private:
  struct Entry {
    Topic topic;
    Change change;
    bool left_out = false;  // the kind could not classify it yet
  };
  struct Batch {
    std::vector<Record> records;
    Page page;
    History history;  // empty: unchanged
  };
  // Starts a read, or another one after the read in progress. [any]
  void want();
  void read();
  Result<Batch> fetch();
  Result<Batch> with_history(Batch batch);
  bool taken(Batch batch);
  bool failed(const Error& error);

  // --- asking the kinds (feed_lanes.cpp)
  // What was read of one kind, in order.
  struct Lane {
    std::deque<Record> waiting;
    size_t bytes = 0;                 // of what waits or is in work
    bool working = false;             // a job asks the kind
    std::map<Topic, Version> topics;  // the last version of all that waits or is in work
  };
  void enter(Record record, Ports& concerned);  // under the mutex
  void give_up_lanes();                         // under the mutex
  void start_lanes();
  void run_lane(const std::string& kind, Outstanding::Ticket ticket);
  void ask(const std::string& kind, const Outstanding::Ticket& ticket);
  // The change before its kind has been asked.
  static Change named(const Record& record);
  Entry entry_of(const Classifier::Kind& kind, Record record,
                 const std::vector<size_t>& peers) const;
  void make_messages(const Topic& topic, Change& change, const std::vector<size_t>& peers) const;
  void append(std::vector<Entry> entries, Ports& concerned);   // under the mutex
  void add_ports(const Topic& topic, Ports& concerned) const;  // under the mutex

  // --- what the kinds could not classify (feed_delays.cpp)
  void ask_again();
  void ask_again(const std::string& kind, std::vector<Record> records,
                 const Outstanding::Ticket& ticket);

  void schedule_poll();
  void schedule_tick();
  enum class Word { wake, tick, shutdown };
  void tell(const Ports& ports, Word word) const;
  Ports everybody();

  Host host_;
  Classifier& classifier_;
  PageCache& pages_;
  FeedSettings settings_;
  const std::vector<Encoding> encodings_;
  storage::Client storage_;
  storage::Watch watch_;
  Strand strand_;
  Outstanding outstanding_;
  Metric reads_, errors_;

  // On the strand.
  Timer poll_, tick_;
  bool ended_ = false;

  // Used only by the one read in progress.
  Cursor cursor_;
  bool known_ = false;           // cursor_ is a position in the store's history
  uint64_t failures_ = 0;        // in a row
  std::optional<Code> trouble_;  // that was logged last, of these

  mutable std::mutex mutex_;
  History history_;
  bool reading_ = false;
  bool again_ = false;  // a hint came during the read
  Ring ring_;
  std::map<std::string, Lane> lanes_;  // by kind
  uint64_t lanes_age_ = 0;             // how often they were given up
  std::map<Topic, Ports> ports_;
  std::vector<size_t> peers_;  // how many ports have joined, by encoding
  uint64_t joined_ = 0;
  bool stopping_ = false;
};

}  // namespace davit::streamer

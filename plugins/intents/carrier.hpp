// Carries open intents out, while this process leads. A pass reads them in the order of their ids,
// page by page, and applies each by the role records. The store writes the outcome with the change;
// when nothing is to be changed, or the intent is refused, this class has it written.
//
// Intents about different records are under way at once. One about a record of which an earlier one
// is under way waits for that. An intent that failed for a while stays open, with the later ones
// about its record; a later pass takes them up. No other intent waits for it.
//
// A pass begins with a hint of the store, at intervals, and again after one that left something.
#pragma once

#include <deque>
#include <set>

#include <davit/backoff.hpp>
#include <davit/outstanding.hpp>
#include <davit/records_role.hpp>
#include <davit/storage.hpp>
#include <davit/storage_election.hpp>
#include <davit/storage_intents.hpp>

namespace davit::intents {

// The parts of the process that a Carrier works with.
struct Neighbours {
  storage::Client storage;
  storage::Intents intents;
  storage::Election election;
  records::Client records;
};

class Carrier {
 public:
  Carrier(Host host, Neighbours neighbours, std::chrono::milliseconds interval);
  // Between them every member may be called. stop() ends soon what is under way; then everything
  // that was begun has ended when `outstanding` has.
  void start();
  void stop();
  // There may be something to do. [any]
  void wake();
  Outstanding& outstanding() { return outstanding_; }

 private:
  struct Work {
    storage::Intent intent;
    records::Document document;
  };
  using Page = Result<std::vector<storage::Intent>>;

  // All on the strand.
  void begin_pass();
  void read_page();
  void take(const Page& page);
  void go_on();
  void apply(Work work);
  void applied(const Work& work, const records::Applied& result);
  // Of what is under way by this key.
  void settle(const Key& key, storage::IntentOutcome outcome);
  void ended(const Key& key, bool done);
  void end_pass();
  Operation begin_call();

  const Host host_;
  const Neighbours neighbours_;
  const std::chrono::milliseconds interval_;
  const Metric carried_out_, refused_, put_off_;
  const Operations operations_;
  Outstanding outstanding_;
  Strand strand_;
  Timer timer_;
  std::atomic<bool> woken_{false};

  // On the strand.
  bool ended_ = false, in_pass_ = false;
  bool unreadable_ = false;  // the last page could not be read, and that was told
  Backoff backoff_;

  // Of the pass.
  uint64_t after_ = 0;             // the last id that was read
  std::deque<Work> waiting_;       // of the page, in the order of the ids
  std::vector<Key> under_way_;     // an empty id stands for any record of the kind and region
  std::vector<Key> put_off_keys_;  // whose intents stay open until the next pass
};

}  // namespace davit::intents

// Queue: decides which record is worked on next. It stands between the desired table and the
// workers. It knows a record by a key, which is the number of its entry. A key is never given out
// twice at once; a key that is added while it is out comes once more. Pure: the caller passes the
// time.
//
// Live changes have priority over repairs, and repairs over the resync. A key that failed keeps
// its priority. While several priorities wait, each gets a share of the turns, so that none
// starves: during a bootstrap of thousands of records, what runs is reported as it comes up and not
// after the last change.
//
// After each reconciliation a key rests: a little after a success, so that a burst of
// events causes one more reconciliation, and for its back-off after a failure. A live change ends
// the rest; nothing else does, except hasten.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace davit::applier {

// The most urgent first.
enum class Priority : uint8_t { change, repair, resync };

class Queue {
 public:
  using Key = uint64_t;
  using Time = std::chrono::nanoseconds;

  // Queues the key for `at`, or for the end of its rest. If it waits already, the earlier time and
  // the more urgent priority count.
  void add(Key key, Priority priority, Time at);
  // Returns the next key that is due. The key is out until done, retry or put_aside.
  std::optional<Key> take(Time now);
  // The key's reconciliation is over. The key rests until `rest_until`.
  void done(Key key, Time rest_until);
  // The key's reconciliation failed. The key rests until `at` and then comes again, in the same
  // priority.
  void retry(Key key, Time at);
  // Gives a key back without work; the key waits for an add. Returns the priority that it was taken
  // from.
  Priority put_aside(Key key);
  // Removes a key. It must not be out.
  void forget(Key key);
  // Ends every rest and back-off: what failed may be tried at once.
  void hasten(Time now);

  // When take may return a key again; nullopt: no key waits.
  std::optional<Time> next_due() const;
  size_t waiting() const { return ready_.size() + delayed_.size(); }
  size_t out() const { return out_; }

 private:
  struct Entry {
    bool waits = false;  // in ready_ or delayed_; while out: to come again
    bool out = false;
    bool delayed = false;
    Priority priority = Priority::resync;
    Priority taken = Priority::resync;  // the priority from which it was taken
    Time at{0};
    Time rest_until{0};
    uint64_t order = 0;
  };
  void wait(Key key, Entry& e, Priority priority, Time at);
  void enqueue(Key key, Entry& e);
  void remove(Key key, Entry& e);
  using Ready = std::set<std::tuple<Priority, uint64_t, Key>>;
  Ready::iterator next_ready();

  std::unordered_map<Key, Entry> entries_;
  Ready ready_;                           // within a priority in the order of arrival
  std::array<uint64_t, 3> had_{0, 0, 0};  // turns that each priority has had, times its turn_cost
  std::set<std::pair<Time, Key>> delayed_;
  uint64_t order_ = 0;
  size_t out_ = 0;
};

}  // namespace davit::applier

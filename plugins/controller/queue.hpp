// Queue: decides which object a controller works on next. It stands between what says that an
// object wants a look (changes, watches, timers) and whoever looks. It knows an object by a key. A
// key is never given out twice at once; a key that is added while it is out comes once more. Pure:
// the caller passes the time.
//
// Live changes have priority over repairs, and repairs over the resync. A key that failed keeps
// its priority. While several priorities wait, each gets a share of the turns, so that none
// starves: during a bootstrap of thousands of records, what runs is reported as it comes up and not
// after the last change.
//
// After each look a key rests: a little after a success, so that a burst of events causes one more
// look, and for its back-off after a failure. A live change ends the rest; nothing else does,
// except hasten.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

namespace davit::controller {

// The most urgent first.
enum class Priority : uint8_t { change, repair, resync };

template <class Key>
class Queue {
 public:
  using Time = std::chrono::nanoseconds;

  // Queues the key for `at`, or for the end of its rest. If it waits already, the earlier time and
  // the more urgent priority count.
  void add(const Key& key, Priority priority, Time at);
  // Returns the next key that is due. The key is out until done, retry or put_aside.
  std::optional<Key> take(Time now);
  // The look at the key is over. The key rests until `rest_until`. With 0 it does not rest, and
  // nothing is kept of a key that does not wait.
  void done(const Key& key, Time rest_until);
  // The look at the key failed. The key rests until `at` and then comes again, in the same
  // priority.
  void retry(const Key& key, Time at);
  // Gives a key back without work; the key waits for an add. Returns the priority that it was taken
  // from.
  Priority put_aside(const Key& key);
  // Removes a key. It must not be out.
  void forget(const Key& key);
  // Ends every rest and back-off: what failed may be tried at once.
  void hasten(Time now);

  // When take may return a key again; nullopt: no key waits.
  std::optional<Time> next_due() const;
  size_t waiting() const { return ready_.size() + delayed_.size(); }
  size_t out() const { return out_; }
  // Whether the key waits, is out or rests.
  bool knows(const Key& key) const { return entries_.contains(key); }

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
  void wait(const Key& key, Entry& e, Priority priority, Time at);
  void enqueue(const Key& key, Entry& e);
  void remove(const Key& key, Entry& e);
  using Ready = std::set<std::tuple<Priority, uint64_t, Key>>;
  typename Ready::iterator next_ready();

  std::unordered_map<Key, Entry> entries_;
  Ready ready_;                           // within a priority in the order of arrival
  std::array<uint64_t, 3> had_{0, 0, 0};  // turns that each priority has had, times its turn_cost
  std::set<std::pair<Time, Key>> delayed_;
  uint64_t order_ = 0;
  size_t out_ = 0;
};

extern template class Queue<uint64_t>;
extern template class Queue<std::string>;

}  // namespace davit::controller

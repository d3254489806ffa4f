// Workers: decides which entry is worked on next, and whether there is room for it. It joins the
// Queue (what is most urgent), the ConcurrencyLimit (what the API server can take) and the Shares
// (no group of records holds up another). The hub adds keys, takes them, and tells what the cluster
// answered. Pure: the caller passes the time.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "answer.hpp"
#include "controller/concurrency_limit.hpp"
#include "controller/queue.hpp"
#include "shares.hpp"

namespace davit::applier {

using controller::Priority;

class Workers {
 public:
  using Key = uint64_t;  // the number of an entry
  using Time = std::chrono::nanoseconds;

  // The most that are worked on at once; slow ones come on top. A reconciliation that is out for
  // longer than `slow_after` is slow.
  Workers(size_t concurrency_max, Time slow_after)
      // Twice the limit: the second half is for those that pass slow ones.
      : limit_(concurrency_max), shares_(slow_after, 2 * concurrency_max) {}

  // --- the queue, see there
  void add(Key key, Priority priority, Time at) { queue_.add(key, priority, at); }
  void done(Key key, Time rest_until) { queue_.done(key, rest_until); }
  void retry(Key key, Time at) { queue_.retry(key, at); }
  void put_aside(Key key) { queue_.put_aside(key); }
  void forget(Key key);
  void hasten(Time now) { queue_.hasten(now); }

  // Queues again those that waited for their group, as far as it has room now.
  void readmit(Time now);
  // The next key, if one is due and the API server may be asked.
  std::optional<Key> take(Time now);
  // Work on a key that was taken begins. False: its group has no room. Then the key waits for the
  // group, and keys of other groups pass it.
  bool begin(Key key, const Shares::Group& group, Time now);
  // Work on the key is over, and the cluster has answered this. The key is still out. `under_way`:
  // how many keys were out when the work began. Returns how many answers were overload.
  size_t end(Key key, const std::vector<Answer>& answers, size_t under_way, Time now);

  // When take may return a key again; nullopt: not before a key is added or work ends.
  std::optional<Time> next_due(Time now) const;
  // Keys that wait, and keys that are out.
  size_t waiting() const { return queue_.waiting() + held_back_.size(); }
  // Places in the lines of groups without room.
  size_t in_line() const;
  size_t out() const { return queue_.out(); }
  size_t limit() const { return limit_.value(); }
  // Nothing may be sent before this time: the API server has asked for a pause.
  Time paused_until() const { return limit_.paused_until(); }

 private:
  controller::Queue<Key> queue_;
  controller::ConcurrencyLimit limit_;
  Shares shares_;
  // Keys whose group has no room, with the priority in which they are queued again; and their
  // order.
  struct Held {
    Priority priority;
    Shares::Group group;
  };
  std::unordered_map<Key, Held> held_back_;
  std::map<Shares::Group, std::deque<Key>> lines_;
};

}  // namespace davit::applier

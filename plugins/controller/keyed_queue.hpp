// KeyedQueue: the keys of a controller that want a look, how long each rests after a failure, and
// how many are looked at at once. It joins a Queue, a Backoff for each key that fails, and the
// ConcurrencyLimit that learns from the answers. It stands between watches, which add keys, and the
// code that looks at one object. After a failure the key rests, and an event does not shorten the
// rest, so no storm of events is a storm of requests. There are as many entries as keys that wait,
// are out or rest, so whoever adds keys bounds them. Pure: the caller passes the time and the
// randomness.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>

#include <davit/backoff.hpp>

#include "concurrency_limit.hpp"
#include "queue.hpp"

namespace davit::controller {

class KeyedQueue {
 public:
  using Time = std::chrono::nanoseconds;
  struct Limits {
    size_t concurrency_max = 16;
    Backoff::Limits retry{std::chrono::milliseconds(500), std::chrono::milliseconds(30'000)};
  };

  explicit KeyedQueue(Limits limits) : limits_(limits), limit_(limits.concurrency_max) {}

  // The key wants a look at `due`, or when its rest ends.
  void add(const std::string& key, Time due) { queue_.add(key, Priority::repair, due); }
  // The same, behind those that were added so: nothing has changed, and time alone asks for it.
  void add_at(const std::string& key, Time due) { queue_.add(key, Priority::resync, due); }
  // The key has changed so that what it failed for may be over: it wants a look now, and its rest
  // ends.
  void changed(const std::string& key, Time now) { queue_.add(key, Priority::change, now); }
  // The next key, if there is one and the limit allows it. Its look ends with succeeded, failed or
  // postponed.
  std::optional<std::string> take(Time now);
  void succeeded(const std::string& key);
  // The key is due again after its back-off, and not before `retry_after` has passed.
  void failed(const std::string& key, Time now, uint64_t random,
              std::chrono::milliseconds retry_after = {});
  // The look found that it has to wait. It has neither failed nor succeeded: the next failure rests
  // as long as it would have. Whoever says so adds the key again.
  void postponed(const std::string& key) { queue_.done(key, Time{0}); }
  // What keys have failed for is over: those that rest are due now, with a short back-off again.
  void hurry(Time now);
  // A request of a look was answered, as the limit wants to know. `like`: its verb and resource.
  void answered(const std::string& like, const cluster::Response& response, Time sent, Time now);

  // When take may have something; nullopt: not before another call.
  std::optional<Time> due() const;
  size_t waiting() const { return queue_.waiting(); }
  size_t running() const { return queue_.out(); }
  uint32_t failures(const std::string& key) const;
  // Whether the key waits, is out or rests.
  bool known(const std::string& key) const { return queue_.knows(key); }

 private:
  Limits limits_;
  Queue<std::string> queue_;
  ConcurrencyLimit limit_;
  std::unordered_map<std::string, Backoff> backoffs_;  // of keys that have failed
};

}  // namespace davit::controller

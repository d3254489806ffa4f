// KeyedQueue: the keys of a controller that want a look. It stands between watches, which add keys,
// and the code that looks at one object and sends at most one request for it. A key is looked at by
// one at a time; what is added meanwhile is one more look. After a failure the key rests, and an
// event does not shorten the rest, so no storm of events is a storm of requests. There are as many
// entries as keys that wait, run or rest, so whoever adds keys bounds them. Pure: the caller passes
// the time and the randomness.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <davit/backoff.hpp>

namespace davit::controller {

class KeyedQueue {
 public:
  using Time = std::chrono::nanoseconds;
  struct Limits {
    size_t concurrency_max = 16;
    Backoff::Limits retry{std::chrono::milliseconds(500), std::chrono::milliseconds(30'000)};
  };

  explicit KeyedQueue(Limits limits) : limits_(limits) {}

  // The key wants a look at once, or when its rest ends.
  void add(const std::string& key, Time now);
  // Not later than `due`. A key that rests after a failure goes on resting.
  void add_at(const std::string& key, Time due);
  // The next key, if there is one and the limit allows it. Its look ends with succeeded or failed.
  std::optional<std::string> take(Time now);
  void succeeded(const std::string& key, Time now);
  // The key is due again after its back-off, and not before `retry_after` has passed.
  void failed(const std::string& key, Time now, uint64_t random,
              std::chrono::milliseconds retry_after = {});
  // What keys have failed for is over: those that rest are due now, with a short back-off again.
  void hurry(Time now);

  // When take may have something; nullopt: not before another call.
  std::optional<Time> due() const;
  size_t waiting() const { return order_.size(); }
  size_t running() const { return running_; }
  uint32_t failures(const std::string& key) const;
  // Whether the key waits, runs or rests.
  bool known(const std::string& key) const { return entries_.contains(key); }

 private:
  struct Entry {
    std::optional<Time> due;
    uint64_t turn = 0;  // among keys that are due at the same time
    bool running = false;
    bool resting = false;
    Backoff backoff;
  };
  using Place = std::pair<std::pair<Time, uint64_t>, std::string>;
  void place(const std::string& key, Entry& entry, Time due);
  void unplace(const std::string& key, Entry& entry);

  Limits limits_;
  std::map<std::string, Entry> entries_;
  std::set<Place> order_;  // of those that wait and do not run
  size_t running_ = 0;
  uint64_t turns_ = 0;
};

}  // namespace davit::controller

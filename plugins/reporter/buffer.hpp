// Buffer: statuses that wait to be sent, the latest of each key. Stands between those who offer and
// the one who sends. Pure; a test needs no clock.
//
// Bounded by keys. When a new key comes and it is full, the oldest one that waits is dropped and
// counted: its place in the cluster is told again when it changes. With `capacity` above the number
// of records nothing is ever dropped, however long the peer is away.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <davit/records.hpp>

namespace davit::reporter {

class Buffer {
 public:
  using Time = std::chrono::nanoseconds;
  explicit Buffer(size_t capacity) : capacity_(capacity) {}

  // Replaces what waits for the same key, which keeps its place. False: an older key was dropped
  // for it.
  bool offer(Status status);
  // The oldest, at most `most` and about `bytes_max` (but one in any case); they are out until sent
  // or failed.
  std::vector<Status> take(size_t most, size_t bytes_max);
  // Brings back what could not be sent, to the front; a newer status of the same key stands.
  void put_back(std::vector<Status> statuses);
  // Brings back one that is not to be sent before `due`; a newer status of the same key stands, and
  // one that is offered takes its place at once.
  void put_off(Status status, Time due);
  // Those that are due wait as all others do; the oldest first.
  void release(Time now);
  std::optional<Time> next_due() const;

  // Those that wait to be sent, those that were put off apart.
  size_t size() const { return order_.size(); }
  size_t put_off_count() const { return off_.size(); }
  bool empty() const { return order_.empty(); }
  uint64_t dropped() const { return dropped_; }
  // What a status is the latest of.
  static std::string key_of(const Status& status);

 private:
  bool drop_oldest();

  bool full() const { return order_.size() + off_.size() >= capacity_; }

  const size_t capacity_;
  std::list<Status> order_;  // oldest first
  std::unordered_map<std::string, std::list<Status>::iterator> by_key_;
  std::set<std::pair<Time, std::string>> off_;  // by when they are due
  std::unordered_map<std::string, std::pair<Time, Status>> off_by_key_;
  uint64_t dropped_ = 0;
};

}  // namespace davit::reporter

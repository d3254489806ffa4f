// Buffer: the statuses that wait to be sent, the latest of each key. It stands between the plugins
// that offer statuses and the Reporter that sends them. Pure.
//
// Its capacity is a number of keys. When it is full and a new key comes, the oldest waiting status
// is dropped and counted. That record is reported again when its status changes. With `capacity`
// above the number of records nothing is ever dropped, however long the peer is away.
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

  // Replaces the waiting status of the same key and keeps its place. False: the oldest status was
  // dropped to make room.
  bool offer(Status status);
  // Takes the oldest out of the buffer: at most `most` and about `bytes_max`, but at least one if
  // one waits.
  std::vector<Status> take(size_t most, size_t bytes_max);
  // Brings statuses that could not be sent back to the front. A waiting status of the same key is
  // newer and stays. What does not fit is dropped and counted.
  void put_back(std::vector<Status> statuses);
  // Brings back a status that must not be sent before `due`. A waiting status of the same key is
  // newer and stays. A status of the key that is offered later replaces it and is due at once.
  void put_off(Status status, Time due);
  // Moves the statuses that are due to the end of those that wait, in the order of their due times.
  void release(Time now);
  std::optional<Time> next_due() const;

  // The statuses that wait to be sent, and those that were put off.
  size_t size() const { return order_.size(); }
  size_t put_off_count() const { return off_.size(); }
  bool empty() const { return order_.empty(); }
  uint64_t dropped() const { return dropped_; }
  // The key of the record that the status is about.
  static std::string key_of(const Status& status);

 private:
  bool drop_oldest();

  bool full() const { return order_.size() + off_.size() >= capacity_; }

  const size_t capacity_;
  std::list<Status> order_;  // oldest first
  std::unordered_map<std::string, std::list<Status>::iterator> by_key_;
  std::set<std::pair<Time, std::string>> off_;  // by due time
  std::unordered_map<std::string, std::pair<Time, Status>> off_by_key_;
  uint64_t dropped_ = 0;
};

}  // namespace davit::reporter

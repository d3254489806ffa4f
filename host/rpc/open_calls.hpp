// The calls of one server that have not ended: who is asked, and waited for, when it goes down. Any
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "end.hpp"

namespace davit::host {

class ServedCall;

class OpenCalls {
 public:
  void add(ServedCall*);
  void remove(ServedCall*);
  size_t size() const;

  void drain() { draining_.store(true, std::memory_order_release); }
  bool draining() const { return draining_.load(std::memory_order_acquire); }

  // Calls that stream answers would never end by themselves; the others are left to finish.
  void ask_streams_to_end();
  void end_all(const End&);
  // False when some are left at the deadline.
  bool wait_until_none(std::chrono::steady_clock::time_point deadline);

 private:
  template <class Each>
  void each(Each&&);

  std::atomic<bool> draining_{false};
  mutable std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<ServedCall*> calls_;
};

}  // namespace davit::host

// Threads for calls that may block. Each plugin instance has its own bounded pool, so a stuck
// database holds up no other instance. The pool starts a thread when a task waits and fewer than
// max_concurrency threads exist. Other tasks wait in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <davit/abi/services.h>

#include "step.hpp"

namespace davit::host {

class Pool {
 public:
  Pool(std::string name, unsigned max_concurrency);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Runs the task exactly once on one of the threads. `guest` is the caller's name if the caller is
  // not the pool's own instance. [any]
  void post(davit_task, void* arg, std::string_view guest = {});
  // Waits until no call of a guest waits or runs. Returns an empty string then. Returns the name of
  // a guest that still has a call if the deadline passes first.
  std::string wait_for_guests(std::chrono::steady_clock::time_point deadline);
  // Runs the waiting tasks, then ends the threads. False: the deadline passed first. Once the
  // threads have ended, post runs tasks on the caller's thread.
  bool shutdown(std::chrono::steady_clock::time_point deadline);

  bool busy();  // a task waits or runs
  // How long tasks have been waiting without one having begun. Zero: none waits. [any]
  std::chrono::nanoseconds stands_still();

  const std::string& name() const { return name_; }
  unsigned max_concurrency() const { return max_; }

 private:
  // By the party of the guest: the number of its calls.
  using Guests = std::map<const Party*, size_t>;
  struct Task {
    davit_task run;
    void* arg;
    Guests::value_type* guest;  // nullptr: none
  };
  void work();
  void run(const Task& task);
  void ended(Guests::value_type* guest);

  const std::string name_;
  const Party& own_;
  const unsigned max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<std::thread> threads_;
  Guests guests_;     // entries are never removed: Task points to them
  size_t calls_ = 0;  // of all guests
  // When the first of those that wait came, or another one began.
  std::chrono::steady_clock::time_point moved_;
  unsigned idle_ = 0, alive_ = 0;
  bool closed_ = false;
};

}  // namespace davit::host

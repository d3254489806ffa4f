// Threads for calls that may block, bounded per instance, so that a stuck database starves nobody
// else. A thread is started when a task waits and fewer than max_concurrency run; the rest wait in
// order.
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

namespace davit::host {

class Pool {
 public:
  Pool(std::string name, unsigned max_concurrency);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Runs the task exactly once on one of the threads. `guest` names who calls into the pool's
  // instance, when it is not the instance itself. [any]
  void post(davit_task, void* arg, std::string_view guest = {});
  // Waits until no call of a guest waits or runs. Empty: none does; otherwise, at the deadline, the
  // name of one whose call does.
  std::string wait_for_guests(std::chrono::steady_clock::time_point deadline);
  // Runs what waits, then ends the threads; false when that was not done by the deadline. What is
  // posted later runs on the caller's thread.
  bool shutdown(std::chrono::steady_clock::time_point deadline);

  bool busy();  // has work, or is at it

  const std::string& name() const { return name_; }
  unsigned max_concurrency() const { return max_; }

 private:
  using Guests = std::map<std::string, size_t, std::less<>>;  // with their calls
  struct Task {
    davit_task run;
    void* arg;
    Guests::value_type* guest;  // nullptr: none
  };
  void work();
  void ended(Guests::value_type* guest);

  const std::string name_;
  const unsigned max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<std::thread> threads_;
  Guests guests_;     // an entry stays
  size_t calls_ = 0;  // of all guests
  unsigned idle_ = 0, alive_ = 0;
  bool closed_ = false;
};

}  // namespace davit::host

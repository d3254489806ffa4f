// Threads for calls that may block, bounded per instance, so that a stuck database starves nobody
// else. A thread is started when a task waits and fewer than max_concurrency run; the rest wait in
// order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
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

  // Runs the task exactly once on one of the threads. [any]
  void post(davit_task, void* arg);
  // Runs what waits, then ends the threads; false when that was not done by the deadline. What is
  // posted later runs on the caller's thread.
  bool shutdown(std::chrono::steady_clock::time_point deadline);

  bool busy();  // has work, or is at it

  const std::string& name() const { return name_; }
  unsigned max_concurrency() const { return max_; }

 private:
  struct Task {
    davit_task run;
    void* arg;
  };
  void work();

  const std::string name_;
  const unsigned max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<std::thread> threads_;
  unsigned idle_ = 0, alive_ = 0;
  bool closed_ = false;
};

}  // namespace davit::host

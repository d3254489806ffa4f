// FileReader runs a task periodically on a thread of its own, and jobs in between. The RPC layer
// reads and writes its files there, so that no call waits for a disk on a thread of others.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace davit::host {

class FileReader {
 public:
  // The first run is after one interval.
  FileReader(std::chrono::milliseconds interval, std::function<void()> task)
      : thread_([this, interval, task = std::move(task)] {
          pthread_setname_np(pthread_self(), "rpc-files");
          run(interval, task);
        }) {}
  // Waits for the task or job that is running, and for the jobs that wait. Nothing runs afterwards.
  ~FileReader() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      wakes_.notify_all();
    }
    thread_.join();
  }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Runs the job soon, once. False: too many wait, and it never runs. [any]
  bool post(std::function<void()> job) {
    constexpr size_t waiting_max = 100;
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= waiting_max) return false;
    jobs_.push_back(std::move(job));
    wakes_.notify_all();
    return true;
  }

 private:
  void run(std::chrono::milliseconds interval, const std::function<void()>& task) {
    auto next = std::chrono::steady_clock::now() + interval;
    std::unique_lock lock(mutex_);
    while (true) {
      const bool early =
          wakes_.wait_until(lock, next, [this] { return ending_ || !jobs_.empty(); });
      if (early && jobs_.empty()) return;
      std::function<void()> job;
      if (early) {
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      lock.unlock();
      if (early) {
        job();
      } else {
        task();
        next = std::chrono::steady_clock::now() + interval;
      }
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace davit::host

// FileReader runs a task periodically on a thread of its own. The RPC layer reads its files there,
// so that no call waits for a disk.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
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
          std::unique_lock lock(mutex_);
          while (!ends_.wait_for(lock, interval, [this] { return ending_; })) {
            lock.unlock();
            task();
            lock.lock();
          }
        }) {}
  // Waits for a task that is running. No task runs afterwards.
  ~FileReader() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      ends_.notify_all();
    }
    thread_.join();
  }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace davit::host

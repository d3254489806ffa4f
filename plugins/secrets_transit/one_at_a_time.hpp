// OneAtATime: a mutex whose next holder waits for a limited time. std::timed_mutex is not used,
// because the ThreadSanitizer of GCC 12 does not see that it is locked (pthread_mutex_clocklock).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace davit::secrets_transit {

class OneAtATime {
 public:
  class Hold {
   public:
    // Waits for the holder. False afterwards: it took longer than `wait`.
    Hold(OneAtATime& of, std::chrono::nanoseconds wait) : of_(of), held_(of.take(wait)) {}
    ~Hold() {
      if (held_) of_.release();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    explicit operator bool() const { return held_; }

   private:
    OneAtATime& of_;
    const bool held_;
  };

 private:
  bool take(std::chrono::nanoseconds wait) {
    std::unique_lock lock(mutex_);
    const bool free = freed_.wait_for(lock, wait, [this] { return !taken_; });
    if (free) taken_ = true;
    return free;
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
    }
    freed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_ = false;
};

}  // namespace davit::secrets_transit

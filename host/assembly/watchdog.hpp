// Ends the process at a time that was set, however far everything is by then, and says who holds it
// up. On a thread of its own, which waits for nobody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace davit::host {

// What the main thread is at: a step ("start") of an instance. [any]
class Activity {
 public:
  struct Now {
    std::string instance, doing;
  };
  void set(std::string_view instance, std::string_view doing) {
    std::lock_guard lock(mutex_);
    now_ = {std::string(instance), std::string(doing)};
  }
  Now now() const {
    std::lock_guard lock(mutex_);
    return now_;
  }

 private:
  mutable std::mutex mutex_;
  Now now_;
};

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  // `last_words` runs on the watchdog's thread just before it ends the process.
  explicit Watchdog(std::function<void()> last_words);
  ~Watchdog();  // then it ends nothing any more
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // The earliest time of all counts, with its exit code. [any]
  void end_at(Clock::time_point when, int code);

 private:
  void watch();

  const std::function<void()> last_words_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> when_;
  int code_ = 0;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace davit::host

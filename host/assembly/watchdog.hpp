// Ends the process at a set time, whatever state it is in, and first logs what held it up. Runs on
// a thread of its own.
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

// The current step of the main thread ("start") and its instance. [any]
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
  ~Watchdog();  // afterwards it ends nothing
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Sets the time and the exit code. An earlier time replaces a later one, not the reverse. [any]
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

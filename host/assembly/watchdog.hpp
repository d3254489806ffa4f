// Ends the process at a set time, whatever state it is in, and first logs what held it up. Until
// then it looks at intervals for steps of plugins that do not return. Runs on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace davit::host {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  // Both run on the watchdog's thread: `look` every `interval`, `last_words` just before it ends
  // the process.
  Watchdog(std::function<void()> look, std::function<void()> last_words);
  ~Watchdog();  // afterwards it ends nothing
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Sets the time and the exit code. An earlier time replaces a later one, not the reverse. [any]
  void end_at(Clock::time_point when, int code);
  // Looks at this interval from now on. [any]
  void look_every(std::chrono::milliseconds interval);

 private:
  void watch();

  const std::function<void()> look_, last_words_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> when_;
  int code_ = 0;
  std::chrono::milliseconds interval_{1000};
  bool over_ = false;
  std::thread thread_;
};

}  // namespace davit::host

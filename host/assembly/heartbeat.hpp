// Tells the service manager that the process lives (WATCHDOG=1 of sd_notify(3)), as long as it
// does: the workers take new tasks, no task of a strand keeps a worker to itself, and no pool
// stands still while tasks wait for it. So a process that hangs is ended and started again, and the
// log says what hung.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace davit::host {

class Log;
class Runtime;

class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;
  // The longest time between two signs of life: what WATCHDOG_USEC asks for, if WATCHDOG_PID means
  // this process. Zero: nobody asks.
  static std::chrono::microseconds asked();

  Heartbeat(Runtime&, Log&, std::chrono::microseconds asked);
  // Looks, and gives a sign of life. Call it at this interval, always on the same thread.
  std::chrono::milliseconds interval() const;
  void beat();

 private:
  std::string what_hangs();  // empty: nothing

  Runtime& runtime_;
  Log& log_;
  const std::chrono::microseconds asked_;
  // Whether the workers have taken the task that was posted at `posted_`. The task may outlive us.
  const std::shared_ptr<std::atomic<bool>> taken_ = std::make_shared<std::atomic<bool>>(true);
  Clock::time_point posted_;
  bool hangs_ = false;
};

}  // namespace davit::host

// The life of the process from `davit run` to its end: the signals, the deadline that they set, and
// the log line that names what kept the process from ending in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "heartbeat.hpp"
#include "instance.hpp"
#include "runtime/signals.hpp"
#include "runtime/step.hpp"
#include "services/log.hpp"
#include "services/passed_sockets.hpp"
#include "services/shutdown.hpp"
#include "stalls.hpp"
#include "watchdog.hpp"

namespace davit::host {

class Runtime;

// Work that still runs at the deadline is cancelled, and has this long to end. After that the
// host's own threads have as long once more.
constexpr std::chrono::seconds grace{1};

// State that exists before the configuration is read, and outlives everything that is created from
// it.
struct Life {
  using Clock = std::chrono::steady_clock;
  Life();  // from now on it is said who ends the process
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  Log log;
  // core.h states this limit.
  Operation starting = operation_until(Clock::now() + std::chrono::seconds(60));

  PassedSockets passed;  // of the service manager; only on the main thread

  Log* const log_before;  // of the Life that this one is within; NULL: there is none

  std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  int signal = 0;       // the first signal to stop
  bool reload = false;  // SIGHUP came
  std::optional<Clock::time_point> stop_by;
  bool ready = false;                       // it has started, and serves
  std::chrono::milliseconds stop_delay{0};  // from SIGTERM to the stop, if it is ready
  std::chrono::milliseconds stop_timeout{10'000};
  std::chrono::milliseconds stall_interval{1'000};  // between two looks for stalls
  const Shutdown* shutdown = nullptr;
  std::shared_ptr<Heartbeat> heartbeat;  // from ready to the stop, if the service manager asks

  Stalls stalls{log};  // only the watchdog's thread uses it, but for `set`
  std::optional<Watchdog> watchdog;
  std::optional<Signals> signals;

  bool ends() const {  // the caller holds the mutex
    return signal != 0 || (shutdown != nullptr && shutdown->requested().has_value());
  }
  void made(const Shutdown* s) {
    const std::lock_guard lock(mutex);
    shutdown = s;
  }
  // Warns of steps of plugins that take longer.
  void watch_for_stalls(std::chrono::milliseconds limit);
  void listen();
  // From now on the service manager hears that the process lives, if it asks; or no more.
  void begin_heartbeat(Runtime&);
  void end_heartbeat();
  void look();  // on the watchdog's thread
  void heard(int number);
  void stop_within(std::chrono::milliseconds timeout);
  void say_late(const std::string& instance, const std::string& doing, const std::string& why);
  void last_words();
};

}  // namespace davit::host

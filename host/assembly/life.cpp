#include "life.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>

#include "application.hpp"
#include "runtime/runtime.hpp"

namespace davit::host {

namespace {

Log* last_log = nullptr;  // of the one Life that runs

// Handles an exception that left a task of a strand or a pool. It is a bug of the task's owner; the
// log names the owner.
[[noreturn]] void say_what_ended_it() {
  std::string what = "terminate was called";
  if (const auto thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      what = e.what();
    } catch (...) {
      what = "an exception of an unknown type";
    }
  }
  last_log->error(Runtime::current_owner(), "an exception that nobody catches ends the process",
                  {{"what", what}});
  std::abort();
}

}  // namespace

// From now on SIGTERM ends the process in time, whatever hangs.
void Life::listen() {
  last_log = &log;
  std::set_terminate(&say_what_ended_it);
  std::signal(SIGPIPE, SIG_IGN);
  Signals::keep();
  watchdog.emplace([this] { last_words(); });
  signals.emplace([this](int number) { heard(number); });
}

void Life::heard(int number) {
  const std::lock_guard lock(mutex);
  if (number == SIGHUP) {
    reload = true;
  } else if (signal != 0) {
    log.warn("host", "second signal: ending at once");
    ::_exit(exit_failed);
  } else {
    signal = number;
    starting.cancel();
    stop_within(stop_timeout);
  }
  changed.notify_all();
}

// The caller holds the mutex.
void Life::stop_within(std::chrono::milliseconds timeout) {
  if (stop_by) return;
  stop_by = Clock::now() + timeout;
  watchdog->end_at(*stop_by + 2 * grace, exit_late);
}

void Life::say_late(const std::string& instance, const std::string& doing, const std::string& why) {
  std::chrono::milliseconds timeout;
  std::string hog;
  {
    const std::lock_guard lock(mutex);
    timeout = stop_timeout;
    if (runtime != nullptr) hog = runtime->hog();
  }
  log.error("host", "did not stop in time; ending without it",
            {{"instance", instance},
             {"stop_timeout_ms", std::to_string(timeout.count())},
             {"doing", doing},
             {"why", hog.empty() ? why : "a task of \"" + hog + "\" holds a worker"}});
}

void Life::last_words() {
  const Activity::Now now = activity.now();
  say_late(now.instance, now.doing, "does not return from " + now.doing);
}

}  // namespace davit::host

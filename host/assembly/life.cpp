#include "life.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "application.hpp"
#include "notify.hpp"
#include "runtime/death.hpp"

namespace davit::host {

namespace {

Log* last_log = nullptr;  // of the Life that was made last

// Handles an exception that left a task of a strand or a pool, or a slot that must not throw. The
// log names whose it was.
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
  const auto step = Step::here();
  last_log->error(step ? step->who->instance : "host",
                  "an exception that nobody catches ends the process",
                  {{"what", what},
                   {"module", step ? step->who->module.load() : ""},
                   {"doing", step ? step->what : "no step of a plugin"},
                   {"called_by", step && step->caller != nullptr ? step->caller->instance : ""}});
  death_is_told();
  std::abort();
}

}  // namespace

Life::Life() : log_before(std::exchange(last_log, &log)) {
  std::set_terminate(&say_what_ended_it);
  tell_deaths();
}

Life::~Life() {
  last_log = log_before;
}

// From now on SIGTERM ends the process in time, whatever hangs.
void Life::listen() {
  std::signal(SIGPIPE, SIG_IGN);
  Signals::keep();
  watchdog.emplace([this] { look(); }, [this] { last_words(); });
  signals.emplace([this](int number) { heard(number); });
}

void Life::watch_for_stalls(std::chrono::milliseconds limit) {
  constexpr int looks = 10;
  stalls.set(limit);
  stall_interval = limit / looks;
  if (watchdog) watchdog->look_every(stall_interval);
}

void Life::begin_heartbeat(Runtime& runtime) {
  const auto asked = Heartbeat::asked();
  if (asked.count() == 0) return;
  const auto beats = std::make_shared<Heartbeat>(runtime, log, asked);
  watchdog->look_every(std::min(stall_interval, beats->interval()));
  const std::lock_guard lock(mutex);
  heartbeat = beats;
}

void Life::end_heartbeat() {
  const std::lock_guard lock(mutex);
  heartbeat.reset();
}

void Life::look() {
  stalls.look();
  std::shared_ptr<Heartbeat> beats;
  {
    const std::lock_guard lock(mutex);
    beats = heartbeat;
  }
  if (beats) beats->beat();
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
    if (number != SIGTERM || !ready) stop_delay = std::chrono::milliseconds(0);
    stop_within(stop_delay + stop_timeout);
    // The settings may allow more time than the service manager does.
    const std::chrono::microseconds longest = stop_delay + stop_timeout + 3 * grace;
    notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(longest.count()));
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
  {
    const std::lock_guard lock(mutex);
    timeout = stop_timeout;
  }
  const auto hog = Step::oldest([](const Step::Seen& s) {
    constexpr std::chrono::seconds longest{1};  // a task takes milliseconds
    return s.kind == Step::Kind::task && s.held > longest;
  });
  log.error("host", "did not stop in time; ending without it",
            {{"instance", instance},
             {"stop_timeout_ms", std::to_string(timeout.count())},
             {"doing", doing},
             {"why", hog ? hog->text() + ", holds a worker" : why}});
}

// The step of a life comes first: everything else goes on beside it.
void Life::last_words() {
  auto step = Step::oldest([](const Step::Seen& s) { return s.kind == Step::Kind::life; });
  if (!step) step = Step::oldest([](const Step::Seen&) { return true; });
  if (!step) return say_late("host", "work", "the host itself does not end");
  const std::string doing = step->what;
  say_late(step->who->instance, doing,
           "does not return from " + doing +
               (step->caller == nullptr ? "" : ", called by \"" + step->caller->instance + "\""));
}

}  // namespace davit::host

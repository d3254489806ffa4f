#include "heartbeat.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "notify.hpp"
#include "runtime/runtime.hpp"
#include "runtime/step.hpp"
#include "services/log.hpp"

namespace davit::host {
namespace {

int64_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  const std::string_view all(text);
  int64_t out = 0;
  const auto read = std::from_chars(all.data(), all.data() + all.size(), out);
  return read.ec == std::errc() && read.ptr == all.data() + all.size() ? out : 0;
}

}  // namespace

std::chrono::microseconds Heartbeat::asked() {
  const bool for_another =
      std::getenv("WATCHDOG_PID") != nullptr && number_of("WATCHDOG_PID") != ::getpid();
  return std::chrono::microseconds(for_another ? 0
                                               : std::max<int64_t>(0, number_of("WATCHDOG_USEC")));
}

Heartbeat::Heartbeat(Runtime& runtime, Log& log, std::chrono::microseconds asked)
    : runtime_(runtime), log_(log), asked_(asked) {}

// A sign that comes late by as much again still comes in time.
std::chrono::milliseconds Heartbeat::interval() const {
  constexpr int signs = 4;
  return std::max(std::chrono::milliseconds(1),
                  std::chrono::floor<std::chrono::milliseconds>(asked_ / signs));
}

std::string Heartbeat::what_hangs() {
  const auto patience = asked_ / 2;
  const auto task = Step::oldest(
      [&](const Step::Seen& s) { return s.kind == Step::Kind::task && s.held > patience; });
  if (task) return task->text() + " does not return";
  const auto now = Clock::now();
  if (!*taken_ && now - posted_ > patience) return "the workers take no task";
  if (*taken_) {
    *taken_ = false;
    posted_ = now;
    runtime_.post([taken = taken_] { *taken = true; });
  }
  const std::string pool = runtime_.pool_that_stands_still(patience);
  return pool.empty() ? "" : "the pool of \"" + pool + "\" ends no task, and others wait";
}

void Heartbeat::beat() {
  const std::string hangs = what_hangs();
  if (hangs.empty()) notify("WATCHDOG=1");
  if (hangs.empty() == !hangs_) return;
  hangs_ = !hangs.empty();
  if (hangs_) {
    log_.error("host", "gives the service manager no sign of life any more", {{"why", hangs}});
    notify("STATUS=hangs: " + hangs);
  } else {
    log_.info("host", "gives signs of life again");
    notify("STATUS=runs");
  }
}

}  // namespace davit::host

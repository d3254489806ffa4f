// Says which steps of plugins have been under way for too long: once when it notices, and once when
// the step has ended after all. The watchdog calls it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace davit::host {

class Log;

class Stalls {
 public:
  explicit Stalls(Log& log) : log_(log) {}
  // How long a task of a strand or a step of a life may take. A call that may block may take six
  // times as long, and a job of a pool any time. [any]
  void set(std::chrono::milliseconds limit) { limit_ = limit; }
  void look();

 private:
  struct Told {
    std::string instance, doing;
    bool there = true;
  };
  Log& log_;
  std::atomic<std::chrono::milliseconds> limit_{std::chrono::milliseconds(10'000)};
  std::map<uint64_t, Told> told_;  // by the step's number
};

}  // namespace davit::host

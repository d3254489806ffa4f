// Decides which of many equal events are worth a log line: the first, and then one a minute with
// the number of those that were left out. Pure but for its mutex; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace davit::host {

class Repeated {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds interval{60};
  static constexpr size_t keys_max = 1'000;

  // Events not logged since the last line, when this one is to be logged; otherwise nothing.
  std::optional<uint64_t> log(const std::string& key, Time now);

 private:
  struct Seen {
    Time logged;
    uint64_t left_out = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Seen> seen_;
};

}  // namespace davit::host

// Repeated decides which of many events that callers cause are logged. It allows the first of each
// key, then one a minute with the number of events left out, and never more than 100 lines a minute
// in all. Admission logs refusals through it. Pure but for its mutex; any thread.
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
  static constexpr size_t keys_max = 1'000, lines_max = 100;

  // If this event is to be logged, returns how many events were left out since the last line.
  // Otherwise returns nothing. The set of keys must be bounded: no text that a caller chooses.
  std::optional<uint64_t> log(const std::string& key, Time now);

 private:
  struct Seen {
    Time logged;
    uint64_t left_out = 0;
  };
  bool room_for_one_more(Time now);

  std::mutex mutex_;
  std::map<std::string, Seen> seen_;
  uint64_t others_ = 0;  // left out, of keys that are not in seen_
  Time began_;           // start of the minute that lines_ counts
  size_t lines_ = 0;
};

}  // namespace davit::host

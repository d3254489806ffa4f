// Decides which of many events that callers cause are worth a log line: the first of its kind, and
// then one a minute with the number of those that were left out. Whatever callers do, there are
// never more than so many lines a minute. Pure but for its mutex; any thread.
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

  // Events not logged since the last line, when this one is to be logged; otherwise nothing. `key`
  // is bounded: no text that a caller is free to choose.
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
  Time began_;           // the minute of lines_
  size_t lines_ = 0;
};

}  // namespace davit::host

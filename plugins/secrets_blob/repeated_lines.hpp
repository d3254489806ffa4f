// RepeatedLines decides which of many refusals become a line of the log: the first of each kind and
// caller, then one a minute, and at most so many lines a minute in all. Pure: its user locks it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace davit::secrets_blob {

class RepeatedLines {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::chrono::seconds interval{60};
  static constexpr size_t lines_max = 100;  // in an interval; so many keys are known at most

  // For a refusal that is to be logged: how many were left out since the last line.
  std::optional<uint64_t> log(const std::string& key, Time now);

 private:
  std::optional<Time> began_;
  std::map<std::string, Time> logged_;  // when in this interval
  uint64_t left_out_ = 0;
};

}  // namespace davit::secrets_blob

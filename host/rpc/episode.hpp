// Episode decides when a repeated failure is logged: once when it begins, and once with a count
// after 10 seconds without it. ConnectionLimits and RequestBytes use it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace davit::host {

class Episode {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds quiet{10};

  // True if this is the first failure of an episode.
  bool happens(Time now) {
    last_ = now;
    return ++times_ == 1;
  }
  // The number of failures if the episode is over, then starts anew. Otherwise nothing.
  std::optional<uint64_t> is_over(Time now) {
    if (times_ == 0 || now - last_ < quiet) return std::nullopt;
    return std::exchange(times_, 0);
  }
  bool is_on() const { return times_ > 0; }

 private:
  uint64_t times_ = 0;
  Time last_;
};

}  // namespace davit::host

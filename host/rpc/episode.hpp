// Something that goes wrong again and again: worth a line when it begins, and one when it has not
// happened for a while, with how often it did. Pure.
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

  // True: it begins.
  bool happens(Time now) {
    last_ = now;
    return ++times_ == 1;
  }
  // How often it happened, when it is over; once.
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

// Limit: at most so many requests a second, and a burst of some at once after a pause. For clusters
// that are shared. Whoever wants to send something reserves a time, and times are given in the
// order in which they are asked for, so nobody is overtaken. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace davit::cluster_kubernetes {

class Limit {
 public:
  using Time = std::chrono::nanoseconds;  // of one monotonic clock

  // `per_second` 0: there is no limit.
  Limit(int64_t per_second, int64_t burst)
      : interval_(per_second > 0 ? Time(std::chrono::seconds(1)) / per_second : Time(0)),
        ahead_(interval_ * (std::max<int64_t>(burst, 1) - 1)) {}

  // When the request may be sent: now, or later.
  Time reserve(Time now) {
    if (interval_.count() == 0) return now;
    next_ = std::max(next_, now - ahead_);
    const Time at = std::max(next_, now);
    next_ += interval_;
    return at;
  }

 private:
  Time interval_, ahead_;
  Time next_{INT64_MIN / 2};
};

}  // namespace davit::cluster_kubernetes

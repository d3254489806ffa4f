// Pace: limits how much one region may ask for in the long run, and how much at once. Turns has one
// for each region. It is a token bucket that fills at `bytes_per_second` up to `burst_bytes`. Work
// may begin while the bucket is not empty. So a call that is larger than the burst may begin, too,
// and the next call waits until the bucket has made up for it. Pure: the caller gives the time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace davit {

struct PaceLimits {
  // At this pace a region leaves most of a store and of two cores to the other regions.
  size_t bytes_per_second = 4 << 20;
  // The statuses of 10,000 pods, which an agent sends at its start, take about half of it.
  size_t burst_bytes = 8 << 20;
};

// No limit: no call waits.
inline constexpr PaceLimits no_pace{.bytes_per_second = SIZE_MAX, .burst_bytes = SIZE_MAX};

class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  explicit Pace(const PaceLimits& limits) : limits_(limits) {}

  // The time from which work may begin. It may be in the past.
  Time begins() const { return full_ - time_of(limits_.burst_bytes) + Time(1); }
  // Whether the bucket is full.
  bool rested(Time now) const { return full_ <= now; }
  void spend(size_t bytes, Time now) { full_ = std::max(full_, now) + time_of(bytes); }

 private:
  Time time_of(size_t bytes) const {
    constexpr double ns_per_s = 1e9;
    return Time(static_cast<int64_t>(static_cast<double>(bytes) * ns_per_s /
                                     static_cast<double>(limits_.bytes_per_second)));
  }

  PaceLimits limits_;
  Time full_{Time::min() / 2};  // when the bucket is full
};

}  // namespace davit

// Pace: how much one region may ask for in the long run, and how much at once. A token bucket: it
// fills at `bytes_per_second` up to `burst_bytes`, and work may begin while anything is in it. So a
// call that is larger than the burst goes, too, and what follows it waits until it is paid for.
// Pure: the time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace davit {

struct PaceLimits {
  // A region at this pace leaves the larger part of a store and of two cores to the others.
  size_t bytes_per_second = 4 << 20;
  // What an agent says of 10,000 pods at its start is about half of it.
  size_t burst_bytes = 8 << 20;
};

// Nothing waits.
inline constexpr PaceLimits no_pace{.bytes_per_second = SIZE_MAX, .burst_bytes = SIZE_MAX};

class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  explicit Pace(const PaceLimits& limits) : limits_(limits) {}

  // When work may begin: in the past, or in the future.
  Time begins() const { return full_ - time_of(limits_.burst_bytes) + Time(1); }
  // Whether all that was spent has come in again.
  bool rested(Time now) const { return full_ <= now; }
  void spend(size_t bytes, Time now) { full_ = std::max(full_, now) + time_of(bytes); }

 private:
  Time time_of(size_t bytes) const {
    constexpr double ns_per_s = 1e9;
    return Time(static_cast<int64_t>(static_cast<double>(bytes) * ns_per_s /
                                     static_cast<double>(limits_.bytes_per_second)));
  }

  PaceLimits limits_;
  Time full_{Time::min() / 2};  // when all that was spent has come in
};

}  // namespace davit

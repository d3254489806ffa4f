// Backoff: how long to wait before the next attempt. Each thing that is retried has one. The
// ceiling doubles from `first` to `most` with each failure. The delay is random in the upper half
// of the ceiling, so that callers that failed together do not retry together. Pure: the caller
// gives the randomness and owns the timer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace davit {

// A delay that is uniform in [from, to].
inline std::chrono::milliseconds jittered(std::chrono::milliseconds from,
                                          std::chrono::milliseconds to, uint64_t random) {
  if (to <= from) return from;
  const auto width = static_cast<uint64_t>((to - from).count()) + 1;
  return from + std::chrono::milliseconds(static_cast<int64_t>(random % width));
}

// A delay between 0.75 and 1.25 of an interval, so that processes that started together drift
// apart.
inline std::chrono::milliseconds jittered(std::chrono::milliseconds interval, uint64_t random) {
  return jittered(interval - interval / 4, interval + interval / 4, random);
}

class Backoff {
 public:
  struct Limits {
    std::chrono::milliseconds first{50}, most{30'000};
  };
  Backoff() = default;
  explicit Backoff(Limits limits) : limits_(limits) {}

  // Counts a failure, and returns the delay before the next attempt. The delay is never less than
  // `retry_after`, which the peer asked for.
  std::chrono::milliseconds next(uint64_t random, std::chrono::milliseconds retry_after = {}) {
    const auto ceiling =
        std::min(limits_.most, limits_.first * (int64_t{1} << std::min(failures_, 20u)));
    ++failures_;
    return std::max(retry_after, jittered(ceiling / 2, ceiling, random));
  }
  void reset() { failures_ = 0; }
  uint32_t failures() const { return failures_; }

 private:
  Limits limits_;
  uint32_t failures_ = 0;
};

}  // namespace davit

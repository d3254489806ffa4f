// Breaker: whether to talk to the peer at all. Pure; time comes in.
//
// Closed: calls go. After `failures_max` failures in a row it opens and stays open for `open_for`:
// no call goes. Then it is half-open: one call, the probe, goes; it closes when the probe succeeds
// and opens again for `open_for` when it fails. A success at any time starts the count anew. What
// counts as a failure is the caller's to say: a peer that answers, even with a refusal, is no
// failure.
#pragma once

#include <chrono>
#include <cstdint>

namespace davit::reporter {

class Breaker {
 public:
  using Time = std::chrono::nanoseconds;
  enum class State : uint8_t { closed, open, half_open };
  struct Rules {
    uint32_t failures_max = 5;
    std::chrono::milliseconds open_for{30'000};
  };
  explicit Breaker(Rules rules) : rules_(rules) {}

  // True: a call may go now; half-open, that call is the probe and its end must be told.
  bool allow(Time now);
  void succeeded();
  void failed(Time now);

  State state(Time now) const;
  // How often it has opened, a failed probe included.
  uint64_t opened() const { return opened_; }
  // Open: when the probe may go.
  Time opens_at() const { return until_; }

 private:
  Rules rules_;
  uint32_t failures_ = 0;
  uint64_t opened_ = 0;
  bool open_ = false;
  bool probing_ = false;
  Time until_{0};
};

}  // namespace davit::reporter

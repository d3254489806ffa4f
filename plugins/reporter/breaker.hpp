// Breaker: the circuit breaker of the Reporter. It decides whether a report may be sent at all.
// Pure; the caller passes the time.
//
// Closed: calls are sent. After `failures_max` failures in a row the breaker opens: no call is sent
// for `open_for`. Then it is half-open: one call is sent as a probe. If the probe succeeds, the
// breaker closes. If it fails, the breaker opens again for `open_for`. Any success resets the
// count. The caller decides what a failure is: a peer that answers, even with a refusal, is none.
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

  // True: a call may be sent now. When half-open, this call is the probe, and the caller must tell
  // its end.
  bool allow(Time now);
  void succeeded();
  void failed(Time now);

  State state(Time now) const;
  // How often the breaker has opened; a failed probe counts, too.
  uint64_t opened() const { return opened_; }
  // While open: when the probe may be sent.
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

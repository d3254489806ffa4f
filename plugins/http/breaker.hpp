// Breaker: the circuit breaker of a client that is called on several threads. It decides whether a
// call may be sent at all. Pure; the caller passes the time, and guards it by a mutex.
//
// Closed: calls are sent. After `failures_max` failures in a row the breaker opens: no call is sent
// for `open_for`. Then it is half-open: one call is sent as a probe, and the others wait for its
// end. If the probe succeeds, the breaker closes. If it fails, the breaker opens again for
// `open_for`. The caller decides what a failure is: a peer that answers, even with a refusal, is
// none.
#pragma once

#include <chrono>
#include <cstdint>

namespace davit::http {

class Breaker {
 public:
  using Time = std::chrono::nanoseconds;
  enum class State : uint8_t { closed, open, half_open };
  enum class Permit : uint8_t { refused, call, probe };
  struct Rules {
    uint32_t failures_max = 5;
    std::chrono::milliseconds open_for{10'000};
  };
  explicit Breaker(Rules rules) : rules_(rules) {}

  // Whoever is not refused tells the end of the call by one of the three below.
  Permit ask(Time now);
  void succeeded(Permit permit);
  void failed(Permit permit, Time now);
  // The call has ended without saying anything about the peer: its caller gave up.
  void abandoned(Permit permit);

  State state(Time now) const;
  // How often the breaker has opened; a failed probe counts, too.
  uint64_t opened() const { return opened_; }
  // While not closed: how long a caller who was refused should wait. At least `probe_time`, which a
  // probe that is under way may still take.
  std::chrono::milliseconds retry_after(Time now) const;

  static constexpr std::chrono::milliseconds probe_time{1'000};

 private:
  Rules rules_;
  uint32_t failures_ = 0;
  uint64_t opened_ = 0;
  bool open_ = false;
  bool probing_ = false;
  Time until_{0};
};

}  // namespace davit::http

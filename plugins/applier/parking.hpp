// Parking: decides when a record that cannot be applied is parked, and when a parked record is
// tried again. Each entry has one. The hub tells it what a reconciliation reported and when watches
// or objects change. Pure: the caller passes time and randomness.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <davit/backoff.hpp>

namespace davit::applier {

class Parking {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr size_t no_watch = SIZE_MAX;

  struct Limits {
    std::chrono::milliseconds retry{300'000};          // a parked record is tried again after this
    std::chrono::milliseconds right_patience{60'000};  // for so long a refused right is retried
    // How long a change of the objects is ignored. It grows with each park in a row. Otherwise
    // somebody who keeps changing the objects would make us try all the time.
    Backoff::Limits settle{std::chrono::milliseconds(100), std::chrono::milliseconds(60'000)};
  };

  // A right is refused. True: the record is parked. An API server that has just started may refuse
  // a right that the account has, so the refusal must have lasted, unless the record is parked
  // already.
  bool refusal_parks(bool parked, const Limits& limits, Time now) const;
  // What a reconciliation has said of rights.
  void note_right(bool refused, Time now);
  bool right_refused() const { return refused_since_.count() > 0; }
  // When the patience with a refused right ends.
  Time patience_ends(const Limits& limits) const { return refused_since_ + limits.right_patience; }

  // The record is parked. `watch`: that of the object that it is parked for, or no_watch.
  // `grounds`: the fingerprint of its objects as the reconciliation saw them.
  void begin(std::string reason, size_t watch, uint64_t grounds, const Limits& limits, Time now,
             uint64_t random);
  // The record is in order: its reason is void, and the waits begin anew.
  void end();

  // The rest is for a parked record.
  const std::string& reason() const { return reason_; }
  // Whether a change of the record's objects may end the park now.
  bool heeds_changes(Time now) const { return now >= at_least_until_ && now < until_; }
  // The record's objects have this fingerprint now. Ends the park if it is another one.
  void objects_are(uint64_t grounds, Time now);
  // Whether the record is only looked at, and not tried again yet.
  bool holds(Time now) const { return now < until_; }
  // When the record is to be looked at next at the latest.
  Time next_look(Time now) const { return now < at_least_until_ ? at_least_until_ : until_; }
  // A watch works again. Returns when the record is tried again because of that; nullopt: it is not
  // parked for an object of that watch.
  std::optional<Time> watch_works(size_t watch, Time now);

 private:
  std::string reason_;
  Time until_{0}, at_least_until_{0};
  size_t watch_ = no_watch;
  uint64_t grounds_ = 0;
  Time refused_since_{0};  // 0: no right is refused
  Backoff backoff_;
};

}  // namespace davit::applier

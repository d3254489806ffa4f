// Lease: how long a token of a login lasts, and when it is renewed or replaced. Pure.
//
// A token is renewed when two thirds of its time are over. A Vault shortens the time near the end
// of what a token may live in all, or refuses. So a renewal that gives less than half of the time
// at the login is the last: a login follows.
#pragma once

#include <chrono>
#include <optional>

namespace davit::secrets_transit {

class Lease {
 public:
  using Time = std::chrono::nanoseconds;
  enum class Next : uint8_t { renewal, login };

  Lease() = default;
  // Of a login. `lasts` 0: for ever.
  Lease(std::chrono::seconds lasts, bool renewable, Time now)
      : first_(lasts), renewable_(renewable) {
    begin(lasts, now);
  }
  void renewed(std::chrono::seconds lasts, bool renewable, Time now) {
    renewable_ = renewable && 2 * lasts >= first_;
    begin(lasts, now);
  }
  // It will not be renewed any more.
  void not_renewed() { renewable_ = false; }

  bool over(Time now) const { return ends_ && now >= *ends_; }
  Next next() const { return renewable_ ? Next::renewal : Next::login; }
  // When next() is due. Empty: never.
  std::optional<Time> due() const { return due_; }

 private:
  void begin(std::chrono::seconds lasts, Time now) {
    if (first_.count() == 0) return;
    ends_ = now + lasts;
    due_ = now + 2 * std::chrono::duration_cast<Time>(lasts) / 3;
  }

  std::chrono::seconds first_{0};
  bool renewable_ = false;
  std::optional<Time> ends_, due_;
};

}  // namespace davit::secrets_transit

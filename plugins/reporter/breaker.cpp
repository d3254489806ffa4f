#include "breaker.hpp"

namespace davit::reporter {

bool Breaker::allow(Time now) {
  if (!open_) return true;
  if (now < until_ || probing_) return false;
  probing_ = true;
  return true;
}

void Breaker::succeeded() {
  failures_ = 0;
  open_ = false;
  probing_ = false;
}

void Breaker::failed(Time now) {
  ++failures_;
  // While the breaker is open only the probe counts, not a call that was sent before.
  if (open_ && !probing_) return;
  if (!open_ && failures_ < rules_.failures_max) return;
  open_ = true;
  ++opened_;
  probing_ = false;
  until_ = now + rules_.open_for;
}

Breaker::State Breaker::state(Time now) const {
  if (!open_) return State::closed;
  return now < until_ ? State::open : State::half_open;
}

}  // namespace davit::reporter

#include "breaker.hpp"

#include <algorithm>

namespace davit::http {

Breaker::Permit Breaker::ask(Time now) {
  if (!open_) return Permit::call;
  if (now < until_ || probing_) return Permit::refused;
  probing_ = true;
  return Permit::probe;
}

// A call that was sent before the breaker opened proves as well as the probe that the peer answers.
void Breaker::succeeded(Permit permit) {
  failures_ = 0;
  open_ = false;
  if (permit == Permit::probe) probing_ = false;
}

void Breaker::failed(Permit permit, Time now) {
  if (permit == Permit::probe) probing_ = false;
  ++failures_;
  // While the breaker is open only the probe counts, not a call that was sent before.
  if (open_ ? permit != Permit::probe : failures_ < rules_.failures_max) return;
  open_ = true;
  ++opened_;
  until_ = now + rules_.open_for;
}

void Breaker::abandoned(Permit permit) {
  if (permit == Permit::probe) probing_ = false;
}

Breaker::State Breaker::state(Time now) const {
  if (!open_) return State::closed;
  return now < until_ ? State::open : State::half_open;
}

std::chrono::milliseconds Breaker::retry_after(Time now) const {
  if (!open_) return {};
  return std::max(probe_time, std::chrono::ceil<std::chrono::milliseconds>(until_ - now));
}

}  // namespace davit::http

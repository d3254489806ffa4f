#include "parking.hpp"

#include <algorithm>
#include <utility>

namespace davit::applier {

bool Parking::refusal_parks(bool parked, const Limits& limits, Time now) const {
  return parked || limits.right_patience.count() == 0 ||
         (right_refused() && now >= patience_ends(limits));
}

void Parking::note_right(bool refused, Time now) {
  if (!refused) {
    refused_since_ = {};
  } else if (!right_refused()) {
    refused_since_ = now;
  }
}

void Parking::begin(std::string reason, size_t watch, uint64_t grounds, const Limits& limits,
                    Time now, uint64_t random) {
  reason_ = std::move(reason);
  watch_ = watch;
  grounds_ = grounds;
  until_ = now + limits.retry;
  if (backoff_.failures() == 0) backoff_ = Backoff(limits.settle);
  at_least_until_ = std::min<Time>(until_, now + backoff_.next(random));
}

void Parking::end() {
  reason_.clear();
  backoff_.reset();
}

void Parking::objects_are(uint64_t grounds, Time now) {
  if (grounds != grounds_) until_ = now;
}

std::optional<Parking::Time> Parking::watch_works(size_t watch, Time now) {
  if (watch_ != watch) return std::nullopt;
  until_ = std::max(now, at_least_until_);
  return until_;
}

}  // namespace davit::applier

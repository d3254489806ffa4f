#include "review_pace.hpp"

namespace davit::secrets_blob {
namespace {

constexpr size_t seconds_at_once = 4;

// A Pace counts bytes; a question is one of them.
PaceLimits limits_of(size_t per_second, size_t seconds) {
  return {.bytes_per_second = per_second, .burst_bytes = per_second * seconds};
}

}  // namespace

ReviewPace::ReviewPace(const Limits& limits)
    : of_address_(limits_of(limits.per_second_per_address, seconds_at_once)),
      all_(limits_of(limits.per_second, seconds_at_once)),
      but_for_the_rested_(limits_of(limits.per_second, seconds_at_once / 2)),
      others_(of_address_) {}

ReviewPace::Verdict ReviewPace::ask(const std::string& address, Time now) {
  Pace& own = pace_of(address, now);
  if (own.begins() > now) return Verdict::too_many_of_address;
  const Pace& shared = own.rested(now) ? all_ : but_for_the_rested_;
  if (shared.begins() > now) return Verdict::too_many;
  own.spend(1, now);
  all_.spend(1, now);
  but_for_the_rested_.spend(1, now);
  return Verdict::now;
}

Pace& ReviewPace::pace_of(const std::string& address, Time now) {
  const auto known = addresses_.find(address);
  if (known != addresses_.end()) return known->second;
  if (addresses_.size() >= addresses_max)
    std::erase_if(addresses_, [now](const auto& one) { return one.second.rested(now); });
  if (addresses_.size() >= addresses_max) return others_;
  return addresses_.emplace(address, of_address_).first->second;
}

}  // namespace davit::secrets_blob

#include "claim.hpp"

#include <algorithm>

#include <davit/short_hash.hpp>

namespace davit::federation {
namespace {

// Two that run hear of each other at least every five minutes.
constexpr std::chrono::minutes quiet_for{15};

bool dns_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

}  // namespace

void Claim::seen(const std::optional<std::string>& holder, Time now, uint64_t random) {
  again_.reset();
  if (holder == own_) {
    claimed_ = true;
    due_.reset();
    return;
  }
  if (!claimed_) {
    due_ = now;
    return;
  }
  if (holder) {
    // Nobody for so long: a new rival, or the former one is started again.
    if (rival(now).empty()) back_.reset();
    rival_ = *holder;
    rival_at_ = now;
  }
  if (!due_) due_ = now + back_.next(random);
}

void Claim::failed(Time now, uint64_t random) {
  due_ = now + again_.next(random);
}

std::string Claim::rival(Time now) const {
  return rival_.empty() || now >= rival_at_ + quiet_for ? "" : rival_;
}

std::optional<Claim::Time> Claim::quiet_at() const {
  if (rival_.empty()) return std::nullopt;
  return rival_at_ + quiet_for;
}

std::string lease_name(const std::string& robot_name) {
  constexpr std::string_view prefix = "davit-federation-";
  const bool fits = std::ranges::all_of(robot_name, dns_letter) && !robot_name.ends_with('-');
  if (fits) return std::string(prefix) + robot_name;
  std::string name;
  for (const char c : robot_name) name += dns_letter(c) ? c : '-';
  return std::string(prefix) + name + "-" + short_hash(robot_name);
}

}  // namespace davit::federation

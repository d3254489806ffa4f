#include "shares.hpp"

#include <algorithm>

namespace davit::applier {
namespace {

// An older refusal says nothing about the present.
constexpr std::chrono::seconds lately{10};
// From so many groups on, those that were neither served nor refused lately are forgotten.
constexpr size_t groups_max = 10'000;

}  // namespace

void Shares::began(const Group& group, uint64_t number, Time now) {
  out_[number] = {group, now};
}

Shares::Group Shares::ended(uint64_t number) {
  auto node = out_.extract(number);
  return node.empty() ? Group() : std::move(node.mapped().group);
}

size_t Shares::room(const Group& group, size_t limit, Time now) const {
  size_t counted = 0;
  bool is_slow = false;
  for (const auto& [number, out] : out_) {
    if (out.group == group || !slow(out, now)) ++counted;
    is_slow = is_slow || (out.group == group && slow(out, now));
  }
  const size_t workers = is_slow ? workers_ / 2 : workers_;
  if (counted >= limit || out_.size() >= workers) return 0;
  return std::min(limit - counted, workers - out_.size());
}

bool Shares::has_room(size_t limit, Time now) const {
  const auto counted = std::count_if(out_.begin(), out_.end(),
                                     [&](const auto& entry) { return !slow(entry.second, now); });
  return static_cast<size_t>(counted) < limit && out_.size() < workers_;
}

Shares::Time Shares::next_slow(Time now) const {
  Time next{0};
  for (const auto& [number, out] : out_) {
    const Time at = out.since + slow_after_ + Time(1);
    if (!slow(out, now) && (next.count() == 0 || at < next)) next = at;
  }
  return next;
}

void Shares::answered(const Group& group, Time now) {
  answers_[group].served = now;
}

bool Shares::refused(const Group& group, bool webhook, Time sent, Time now) {
  if (webhook) return false;
  const auto is_refused = [&](const Answers& a) {
    return a.refused.count() >= 0 && now - a.refused < lately;
  };
  if (answers_.size() >= groups_max) {
    std::erase_if(answers_, [&](const auto& entry) {
      return !is_refused(entry.second) && now - entry.second.served > lately;
    });
  }
  answers_[group].refused = now;
  size_t groups_refused = 0, groups_served = 0;
  for (const auto& [name, answers] : answers_) {
    if (is_refused(answers)) {
      ++groups_refused;
    } else if (answers.served.count() >= 0 && answers.served >= sent) {
      ++groups_served;
    }
  }
  return groups_served < groups_refused;
}

}  // namespace davit::applier

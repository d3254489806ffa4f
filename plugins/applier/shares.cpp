#include "shares.hpp"

#include <algorithm>

namespace davit::applier {
namespace {

// An older refusal says nothing about the present.
constexpr std::chrono::seconds lately{10};

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

bool Shares::is_refused(const Answers& a, Time now) {
  return a.refused.count() >= 0 && now - a.refused < lately;
}

// Namespaces come and go, so old answers are forgotten. The limit doubles with what is left: a
// sweep costs little for each group that was added.
Shares::Answers& Shares::answers_of(const Group& group, Time now) {
  if (answers_.size() >= groups_max_ && !answers_.contains(group)) {
    // A refusal is compared with what was served since its request was sent.
    Time needed = now - lately;
    for (const auto& [number, out] : out_) needed = std::min(needed, out.since);
    std::erase_if(answers_, [&](const auto& entry) {
      return !is_refused(entry.second, now) && entry.second.served < needed;
    });
    groups_max_ = std::max<size_t>(64, 2 * answers_.size());
  }
  return answers_[group];
}

void Shares::answered(const Group& group, Time now) {
  answers_of(group, now).served = now;
}

bool Shares::refused(const Group& group, bool webhook, Time sent, Time now) {
  if (webhook) return false;
  answers_of(group, now).refused = now;
  size_t groups_refused = 0, groups_served = 0;
  for (const auto& [name, answers] : answers_) {
    if (is_refused(answers, now)) {
      ++groups_refused;
    } else if (answers.served.count() >= 0 && answers.served >= sent) {
      ++groups_served;
    }
  }
  return groups_served < groups_refused;
}

}  // namespace davit::applier

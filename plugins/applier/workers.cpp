#include "workers.hpp"

#include <algorithm>
#include <iterator>

namespace davit::applier {

void Workers::forget(Key key) {
  queue_.forget(key);
  const auto held = held_back_.extract(key);
  if (!held) return;
  const auto line = lines_.find(held.mapped().group);
  if (line == lines_.end()) return;
  std::erase(line->second, key);
  if (line->second.empty()) lines_.erase(line);
}

size_t Workers::in_line() const {
  size_t count = 0;
  for (const auto& [group, keys] : lines_) count += keys.size();
  return count;
}

void Workers::readmit(Time now) {
  for (auto line = lines_.begin(); line != lines_.end();) {
    auto& keys = line->second;
    for (size_t room = shares_.room(line->first, limit_.value(), now); room > 0 && !keys.empty();
         keys.pop_front()) {
      const auto held = held_back_.extract(keys.front());
      if (!held) continue;  // forgotten, or begun meanwhile
      queue_.add(held.key(), held.mapped().priority, now);
      --room;
    }
    line = keys.empty() ? lines_.erase(line) : std::next(line);
  }
}

std::optional<Workers::Key> Workers::take(Time now) {
  if (now < limit_.paused_until() || !shares_.has_room(limit_.value(), now)) return std::nullopt;
  return queue_.take(now);
}

bool Workers::begin(Key key, const Shares::Group& group, Time now) {
  if (shares_.room(group, limit_.value(), now) > 0) {
    held_back_.erase(key);
    shares_.began(group, key, now);
    return true;
  }
  // What comes for the key meanwhile may be more urgent than what it waits for.
  const Priority priority = queue_.put_aside(key);
  const auto [held, news] = held_back_.try_emplace(key, Held{priority, group});
  if (news) lines_[group].push_back(key);
  held->second.priority = std::min(priority, held->second.priority);
  return false;
}

size_t Workers::end(Key key, const std::vector<Answer>& answers, size_t under_way, Time now) {
  const Shares::Group group = shares_.ended(key);
  size_t refused = 0;
  for (const Answer& a : answers) {
    if (a.overloaded) {
      ++refused;
      // Otherwise the record's own back-off is enough.
      if (shares_.refused(group, a.of_webhook, a.sent, now))
        limit_.overloaded(a.sent, a.retry_after, now);
      continue;
    }
    shares_.answered(group, now);
    // Others may have begun or ended since.
    limit_.answered(a.like, a.took, std::max(under_way, queue_.out()), now);
  }
  return refused;
}

std::optional<Workers::Time> Workers::next_due(Time now) const {
  auto due = queue_.next_due();
  if (!due && lines_.empty()) return due;
  if (due) due = std::max(*due, limit_.paused_until());
  const bool room = shares_.has_room(limit_.value(), now);
  const auto slow = shares_.next_slow(now);
  if (slow.count() == 0) return room ? due : std::nullopt;
  if (due && !room) due = std::max(*due, slow);
  // Work that becomes slow leaves its room to other groups, which may have keys held back.
  if (!lines_.empty()) due = std::min(due.value_or(slow), slow);
  return due;
}

}  // namespace davit::applier

#include "turns.hpp"

#include <algorithm>

namespace davit::recorder {

namespace {

// An empty call takes room, too ...
size_t room(size_t bytes) {
  constexpr size_t overhead = 512;
  return bytes + overhead;
}

// ... and work: to be received, decoded and answered, and its part of a transaction.
size_t work(size_t bytes) {
  constexpr size_t overhead = 4 << 10;
  return bytes + overhead;
}

}  // namespace

Result<Turns::Next> Turns::enter(const Ask& ask, Time now, Job job) {
  return enter(ask, ask.bytes, limits_.waiting_bytes, now, std::move(job));
}

Result<Turns::Next> Turns::enter_refusal(const Ask& ask, Time now, Job job) {
  return enter(ask, 0, 2 * limits_.waiting_bytes, now, std::move(job));
}

Result<Turns::Next> Turns::enter(const Ask& ask, size_t bytes, size_t most, Time now, Job job) {
  const std::lock_guard lock(mutex_);
  forget_rested(now);
  const auto region = regions_.try_emplace(ask.region, limits_.pace).first;
  Queue& queue = region->second;
  if (!queue.waiting.empty() && queue.waiting_bytes + room(bytes) > most) {
    return Error{Code::resource_exhausted,
                 "too many calls of region \"" + ask.region + "\" wait: wait for the answers",
                 {},
                 std::chrono::seconds(1)};
  }
  queue.waiting_bytes += room(bytes);
  queue.waiting.push_back({ask, std::move(job)});
  Waiting& waits = queue.waiting.back();
  waits.ask.bytes = bytes;
  Next out;
  go_on(region, now, out);
  return out;
}

Turns::Next Turns::leave(const std::string& region, size_t bytes, Time now) {
  const std::lock_guard lock(mutex_);
  const auto at = regions_.find(region);
  at->second.working -= room(bytes);
  Next out;
  go_on(at, now, out);
  return out;
}

void Turns::spend(const std::string& region, size_t paced_bytes, Time now) {
  const std::lock_guard lock(mutex_);
  regions_.find(region)->second.pace.spend(paced_bytes, now);
}

std::optional<Turns::Time> Turns::wake_at() const {
  const std::lock_guard lock(mutex_);
  if (held_.empty()) return std::nullopt;
  return held_.begin()->first;
}

Turns::Next Turns::wake(Time now) {
  const std::lock_guard lock(mutex_);
  Next out;
  while (!held_.empty() && held_.begin()->first <= now) {
    go_on(regions_.find(held_.begin()->second), now, out);
  }
  return out;
}

Turns::Next Turns::hurry(Time now) {
  const std::lock_guard lock(mutex_);
  hurried_ = true;
  Next out;
  while (!held_.empty()) go_on(regions_.find(held_.begin()->second), now, out);
  return out;
}

void Turns::go_on(Regions::iterator region, Time now, Next& out) {
  Queue& queue = region->second;
  if (queue.wakes_at) held_.erase({*std::exchange(queue.wakes_at, std::nullopt), region->first});
  while (!queue.waiting.empty()) {
    Waiting& first = queue.waiting.front();
    const size_t bytes = room(first.ask.bytes);
    if (queue.working > 0 && queue.working + bytes > limits_.working_bytes) return;
    if (!in_pace(region, now, out)) return;
    queue.working += bytes;
    queue.waiting_bytes -= bytes;
    out.jobs.push_back(std::move(first.job));
    queue.waiting.pop_front();
  }
}

bool Turns::in_pace(Regions::iterator region, Time now, Next& out) {
  Queue& queue = region->second;
  const Ask& first = queue.waiting.front().ask;
  if (queue.pace.rested(now)) queue.slowed = false;
  const Time begins = queue.pace.begins();
  if (begins > now && !hurried_) {
    if (!queue.held_since) queue.held_since = now;
    queue.wakes_at = begins;
    held_.insert({begins, region->first});
    out.held = true;
    if (!std::exchange(queue.slowed, true)) out.slowed = true;
    return false;
  }
  if (queue.held_since) out.waited.push_back(now - *std::exchange(queue.held_since, std::nullopt));
  if (first.deadline > now) queue.pace.spend(work(first.paced_bytes), now);
  return true;
}

// Its cost is a share of what was added since the last time.
void Turns::forget_rested(Time now) {
  if (regions_.size() < regions_max_) return;
  std::erase_if(regions_, [now](const auto& entry) {
    const Queue& queue = entry.second;
    return queue.working == 0 && queue.waiting.empty() && queue.pace.rested(now);
  });
  regions_max_ = std::max<size_t>(64, 2 * regions_.size());
}

}  // namespace davit::recorder

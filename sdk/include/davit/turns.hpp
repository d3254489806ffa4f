// Turns: decides which calls of agents a server works on now. Each region has its own queue in
// order of arrival, its own limit of calls in progress, and its own pace. So a call waits behind
// calls of its own region only, never behind those of another region. Turns stands between the RPC
// layer and the decoding and storing of a call; TurnRunner runs its jobs. It knows no clock and no
// strand, and any thread may call it.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pace.hpp"
#include "types.hpp"

namespace davit {

struct TurnLimits {
  // Calls of one region in progress at once. A single call may be larger. Small calls run beside
  // each other, so that the store gets them together.
  size_t working_bytes = 64 << 10;
  // Calls in the queue of one region: four of the largest. Calls beyond this limit are refused.
  size_t waiting_bytes = 16 << 20;
  PaceLimits pace;
};

class Turns {
 public:
  using Time = Pace::Time;  // of a monotonic clock
  using Job = std::function<void()>;

  explicit Turns(TurnLimits limits = {}) : limits_(limits) {}

  // A call, as its limits and its pace count it.
  struct Ask {
    std::string region;
    size_t bytes = 0;             // counted in the queue and in progress
    size_t paced_bytes = 0;       // spent from the region's pace
    Time deadline = Time::max();  // after it the call does no work, and spends nothing
  };
  // What the caller of a step has to do.
  struct Next {
    std::vector<Job> jobs;     // run these now
    std::vector<Time> waited;  // one for each of these jobs that the pace delayed: how long
    bool held = false;         // a region waits for its pace: call `wake` at `wake_at`
    bool slowed = false;       // a region waits for its pace for the first time since it had rested
  };

  // Queues a call. RESOURCE_EXHAUSTED when too many bytes of the region wait already.
  Result<Next> enter(const Ask& ask, Time now, Job job);
  // Queues the refusal of a call that `enter` did not take. A peer that gets its refusal at once
  // asks again at once, and reading its request is work, too. Refusals take the room of empty
  // calls, and their limit is twice `waiting_bytes`.
  Result<Next> enter_refusal(const Ask& ask, Time now, Job job);
  // A job that a step has returned has ended. `bytes` is its Ask's, or 0 for a refusal.
  Next leave(const std::string& region, size_t bytes, Time now);
  // A job in progress costs `paced_bytes` more than its Ask said.
  void spend(const std::string& region, size_t paced_bytes, Time now);

  // When to call `wake`; empty: no region waits for its pace.
  std::optional<Time> wake_at() const;
  Next wake(Time now);
  // The server stops: from now on no call waits for its pace, so that each gets its answer soon.
  Next hurry(Time now);

 private:
  struct Waiting {
    Ask ask;
    Job job;
  };
  struct Queue {
    explicit Queue(const PaceLimits& limits) : pace(limits) {}
    size_t working = 0;  // bytes
    size_t waiting_bytes = 0;
    std::deque<Waiting> waiting;
    Pace pace;
    std::optional<Time> held_since, wakes_at;  // set while the pace delays the first call
    bool slowed = false;                       // Next::slowed was returned since it had rested
  };
  using Regions = std::map<std::string, Queue>;

  Result<Next> enter(const Ask& ask, size_t bytes, size_t most, Time now, Job job);
  void go_on(Regions::iterator region, Time now, Next& out);
  // Whether the pace lets the first call of the queue begin.
  bool in_pace(Regions::iterator region, Time now, Next& out);
  void forget_rested(Time now);
  // The memory of a call: even an empty call takes some.
  static size_t room(size_t bytes) { return bytes + 512; }
  // The work of a call: even an empty call is received, decoded, answered and part of a
  // transaction.
  static size_t work(size_t bytes) { return bytes + (4 << 10); }

  const TurnLimits limits_;
  mutable std::mutex mutex_;
  Regions regions_;  // of every region that has called; rested ones are removed at regions_max_
  size_t regions_max_ = 64;
  std::set<std::pair<Time, std::string>> held_;  // regions that wait for their pace, by wake time
  bool hurried_ = false;
};

inline Result<Turns::Next> Turns::enter(const Ask& ask, Time now, Job job) {
  return enter(ask, ask.bytes, limits_.waiting_bytes, now, std::move(job));
}

inline Result<Turns::Next> Turns::enter_refusal(const Ask& ask, Time now, Job job) {
  return enter(ask, 0, 2 * limits_.waiting_bytes, now, std::move(job));
}

inline Result<Turns::Next> Turns::enter(const Ask& ask, size_t bytes, size_t most, Time now,
                                        Job job) {
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

inline Turns::Next Turns::leave(const std::string& region, size_t bytes, Time now) {
  const std::lock_guard lock(mutex_);
  const auto at = regions_.find(region);
  at->second.working -= room(bytes);
  Next out;
  go_on(at, now, out);
  return out;
}

inline void Turns::spend(const std::string& region, size_t paced_bytes, Time now) {
  const std::lock_guard lock(mutex_);
  regions_.find(region)->second.pace.spend(paced_bytes, now);
}

inline std::optional<Turns::Time> Turns::wake_at() const {
  const std::lock_guard lock(mutex_);
  if (held_.empty()) return std::nullopt;
  return held_.begin()->first;
}

inline Turns::Next Turns::wake(Time now) {
  const std::lock_guard lock(mutex_);
  Next out;
  while (!held_.empty() && held_.begin()->first <= now) {
    go_on(regions_.find(held_.begin()->second), now, out);
  }
  return out;
}

inline Turns::Next Turns::hurry(Time now) {
  const std::lock_guard lock(mutex_);
  hurried_ = true;
  Next out;
  while (!held_.empty()) go_on(regions_.find(held_.begin()->second), now, out);
  return out;
}

inline void Turns::go_on(Regions::iterator region, Time now, Next& out) {
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

inline bool Turns::in_pace(Regions::iterator region, Time now, Next& out) {
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

// Runs only when the number of regions has doubled, so its cost per added region is constant.
inline void Turns::forget_rested(Time now) {
  if (regions_.size() < regions_max_) return;
  std::erase_if(regions_, [now](const auto& entry) {
    const Queue& queue = entry.second;
    return queue.working == 0 && queue.waiting.empty() && queue.pace.rested(now);
  });
  regions_max_ = std::max<size_t>(64, 2 * regions_.size());
}

}  // namespace davit

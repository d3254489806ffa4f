// Turns: which calls are worked on now. Each region has a queue of its own, in order of arrival, a
// small part of the work in progress, and a pace: what one region's agents ask for waits behind
// that region's own calls, never behind another's. Stands between the RPC layer and everything that
// decoding and storing costs. Pure, and for any thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <davit/types.hpp>

#include "pace.hpp"

namespace davit::recorder {

struct TurnLimits {
  // Of one region, in progress at once; one call goes whatever its size. Small calls reach the
  // store together.
  size_t working_bytes = 64 << 10;
  // Of one region, in its queue: four of the largest calls. What is above is refused.
  size_t waiting_bytes = 16 << 20;
  PaceLimits pace;
};

class Turns {
 public:
  using Time = Pace::Time;
  using Job = std::function<void()>;

  explicit Turns(TurnLimits limits = {}) : limits_(limits) {}

  struct Ask {
    std::string region;
    size_t bytes = 0;             // counted in the queue and in progress
    size_t paced_bytes = 0;       // what it spends of the region's pace
    Time deadline = Time::max();  // past it the call does nothing any more, and spends nothing
  };
  // What follows from a step.
  struct Next {
    std::vector<Job> jobs;     // to be run now
    std::vector<Time> waited;  // how long the pace held those of them that it held
    bool held = false;         // a region waits for its pace: look at `wake_at`
    bool slowed = false;       // ... for the first time since it had rested
  };

  // RESOURCE_EXHAUSTED: too much of the region waits already.
  Result<Next> enter(const Ask& ask, Time now, Job job);
  // The same for what `enter` has refused: who is told so at once asks again at once, and reading
  // what it asks is work, too. Such jobs count as if they were empty, and have as much room again.
  Result<Next> enter_refusal(const Ask& ask, Time now, Job job);
  // A job that `enter`, `leave` or `wake` has given has ended.
  Next leave(const std::string& region, size_t bytes, Time now);
  // A job that is in progress costs so much more than it was taken for.
  void spend(const std::string& region, size_t paced_bytes, Time now);

  // When to call `wake`; nothing: no region waits for its pace.
  std::optional<Time> wake_at() const;
  Next wake(Time now);
  // From now on nothing waits for its pace: the server ends, and whoever waits is to hear so.
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
    std::optional<Time> held_since, wakes_at;  // while the pace holds the first of them
    bool slowed = false;                       // said since it had rested
  };
  using Regions = std::map<std::string, Queue>;

  Result<Next> enter(const Ask& ask, size_t bytes, size_t most, Time now, Job job);
  void go_on(Regions::iterator region, Time now, Next& out);
  // Whether the pace lets the first one go.
  bool in_pace(Regions::iterator region, Time now, Next& out);
  void forget_rested(Time now);

  const TurnLimits limits_;
  mutable std::mutex mutex_;
  Regions regions_;  // those with calls, and those that have not rested yet
  size_t regions_max_ = 64;
  std::set<std::pair<Time, std::string>> held_;  // when each wakes
  bool hurried_ = false;
};

}  // namespace davit::recorder

// Turns: which calls are worked on now. Each region has a queue of its own, in order of arrival,
// and a small part of the work in progress: what one region's agents ask for waits behind that
// region's own calls, never behind another's. Stands between the RPC layer and everything that
// decoding and storing costs. Pure, and for any thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::recorder {

struct TurnLimits {
  // Of one region, in progress at once; one call goes whatever its size. Small calls reach the
  // store together.
  size_t working_bytes = 64 << 10;
  // Of one region, in its queue: four of the largest calls. What is above is refused.
  size_t waiting_bytes = 16 << 20;
};

class Turns {
 public:
  using Job = std::function<void()>;

  explicit Turns(TurnLimits limits = {}) : limits_(limits) {}

  // The jobs that are to run now: this one, or none yet. RESOURCE_EXHAUSTED: too much waits
  // already.
  Result<std::vector<Job>> enter(const std::string& region, size_t bytes, Job job);
  // The same for what `enter` has refused: who is told so at once asks again at once, and reading
  // what it asks is work, too. Such jobs count as if they were empty, and have as much room again.
  Result<std::vector<Job>> enter_refusal(const std::string& region, Job job);
  // A job that `enter` or `leave` has given has ended: the jobs whose turn it is now.
  std::vector<Job> leave(const std::string& region, size_t bytes);

 private:
  struct Waiting {
    size_t bytes = 0;
    Job job;
  };
  struct Queue {
    size_t working = 0;  // bytes
    size_t waiting_bytes = 0;
    std::deque<Waiting> waiting;
  };
  Result<std::vector<Job>> enter(const std::string& region, size_t bytes, Job job, size_t most);
  std::vector<Job> next(Queue& queue) const;
  static size_t cost(size_t bytes);

  const TurnLimits limits_;
  std::mutex mutex_;
  std::map<std::string, Queue> regions_;  // those with calls
};

}  // namespace davit::recorder

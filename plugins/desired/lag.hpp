// Counts how far behind the agents are. All reads of the status share one Backlog of the process,
// which continues to read the store whenever somebody asks. [any]
#pragma once

#include <mutex>

#include <davit/backlog.hpp>

namespace davit::desired {

// Asked between two pages of a long read. False: the caller is gone or the plugin stops, so give
// up.
using GoOn = std::function<bool()>;

class Lag {
 public:
  // Blocks. The first call reads the whole store.
  Result<> refresh(const storage::Client& storage, const GoOn& go_on) {
    const std::lock_guard lock(mutex_);
    return backlog_.refresh(storage, go_on);
  }
  uint64_t of(const Progress& agent) const {
    const std::lock_guard lock(mutex_);
    uint64_t sum = 0;
    for (const auto& k : agent.kinds) sum += backlog_.above(k.kind, agent.region, k.applied);
    return sum;
  }

 private:
  mutable std::mutex mutex_;
  Backlog backlog_;
};

}  // namespace davit::desired

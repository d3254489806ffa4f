// How far behind agents are, for all who ask for the status at the same time: one Backlog of the
// process, read on when somebody asks.
#pragma once

#include <mutex>

#include <davit/backlog.hpp>

namespace davit::desired {

// False: whoever wanted this has gone, or the plugin stops. Asked between two pages.
using GoOn = std::function<bool()>;

class Lag {
 public:
  // Blocks; the first time it reads the whole store.
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

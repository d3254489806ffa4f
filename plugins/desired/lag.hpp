// Counts how far behind the agents are. All reads of the status share one Backlog of the process,
// which continues to read the store whenever somebody asks. [any]
#pragma once

#include <davit/backlog.hpp>

namespace davit::desired {

// Asked between two pages of a long read. False: the caller is gone or the plugin stops, so give
// up.
using GoOn = std::function<bool()>;

class Lag {
 public:
  // Blocks. The first call reads the whole store.
  Result<> refresh(const storage::Client& storage, const GoOn& go_on) {
    return backlog_.refresh_or_wait(storage, go_on);
  }
  uint64_t of(const Progress& agent) const {
    uint64_t sum = 0;
    for (const auto& k : agent.kinds) sum += backlog_.above(k.kind, agent.region, k.applied);
    return sum;
  }

 private:
  Backlog backlog_;
};

}  // namespace davit::desired

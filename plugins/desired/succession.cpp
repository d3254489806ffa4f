#include "succession.hpp"

#include <algorithm>

namespace davit::desired {

template <class Holds>
bool Succession::another(const Progress& agent, Holds holds) const {
  const auto [first, last] = by_region_.equal_range(agent.region);
  return std::any_of(first, last, [&](const auto& entry) { return holds(*entry.second); });
}

bool Succession::taken_over(const Progress& agent, std::string_view kind) const {
  return another(agent, [&](const Progress& other) {
    const bool later = other.epoch > agent.epoch &&
                       other.seen_at_unix_ms > agent.seen_at_unix_ms + silence.count();
    return later && std::any_of(other.kinds.begin(), other.kinds.end(),
                                [&](const KindProgress& k) { return k.kind == kind; });
  });
}

bool Succession::taken_over(const Progress& agent) const {
  return !agent.kinds.empty() &&
         std::all_of(agent.kinds.begin(), agent.kinds.end(),
                     [&](const KindProgress& k) { return taken_over(agent, k.kind); });
}

bool Succession::forgettable(const Progress& agent, int64_t seen_before_unix_ms) const {
  return agent.seen_at_unix_ms < seen_before_unix_ms && another(agent, [&](const Progress& other) {
           return other.epoch >= agent.epoch && other.seen_at_unix_ms > agent.seen_at_unix_ms;
         });
}

}  // namespace davit::desired

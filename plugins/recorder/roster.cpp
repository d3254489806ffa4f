#include "roster.hpp"

#include <algorithm>

namespace davit::recorder {

bool Roster::has(const Progress& said) const {
  const auto region = regions_.find(said.region);
  return region != regions_.end() && region->second.contains(said.agent);
}

Result<std::optional<Roster::Seat>> Roster::place_of(const Progress& newcomer) const {
  const auto region = regions_.find(newcomer.region);
  const size_t here = region == regions_.end() ? 0 : region->second.size();
  const bool full_here = here >= limits_.agents_a_region;
  if (!full_here && count_ < limits_.agents) return std::optional<Seat>();
  if (here > 0) {
    const auto& agents = region->second;
    const auto oldest =
        std::min_element(agents.begin(), agents.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (oldest->second + silence.count() < newcomer.seen_at_unix_ms)
      return std::optional(Seat{newcomer.region, oldest->first, oldest->second});
  }
  const std::string where = full_here ? "region \"" + newcomer.region + "\" has" : "the server has";
  const std::string setting = full_here ? "agents_per_region_max" : "agents_max";
  return Error{Code::failed_precondition,
               where + " " + std::to_string(full_here ? here : count_) + " agents already (" +
                   setting + "): stop one, or forget one with davit agent forget",
               "agent",
               {}};
}

void Roster::heard(const Progress& said) {
  const auto [agent, is_new] =
      regions_[said.region].insert_or_assign(said.agent, said.seen_at_unix_ms);
  count_ += is_new ? 1 : 0;
}

void Roster::gone(const Seat& seat) {
  const auto region = regions_.find(seat.region);
  if (region == regions_.end()) return;
  count_ -= region->second.erase(seat.agent);
  if (region->second.empty()) regions_.erase(region);
}

void Roster::clear() {
  regions_.clear();
  count_ = 0;
}

}  // namespace davit::recorder

#include "roster.hpp"

#include <algorithm>

namespace davit::recorder {

const Roster::Place* Roster::find(const Progress& said) const {
  const auto region = regions_.find(said.region);
  if (region == regions_.end()) return nullptr;
  const auto agent = region->second.find(said.agent);
  return agent == region->second.end() ? nullptr : &agent->second;
}

bool Roster::has(const Progress& said) const {
  return find(said) != nullptr;
}

bool Roster::is_late(const Progress& said) const {
  const Place* place = find(said);
  return said.sequence != 0 && place != nullptr &&
         std::pair(said.epoch, said.sequence) < place->newest;
}

std::optional<Roster::Seat> Roster::silent(const std::string& region, const Agents& agents,
                                           int64_t heard_before_unix_ms) {
  const auto oldest =
      std::min_element(agents.begin(), agents.end(), [](const auto& a, const auto& b) {
        return a.second.seen_at_unix_ms < b.second.seen_at_unix_ms;
      });
  if (oldest == agents.end() || oldest->second.seen_at_unix_ms >= heard_before_unix_ms)
    return std::nullopt;
  return Seat{region, oldest->first, oldest->second.seen_at_unix_ms};
}

std::optional<Roster::Seat> Roster::silent_anywhere(int64_t heard_before_unix_ms) const {
  std::optional<Seat> out;
  for (const auto& [region, agents] : regions_) {
    auto seat = silent(region, agents, heard_before_unix_ms);
    if (seat && (!out || seat->seen_at_unix_ms < out->seen_at_unix_ms)) out = std::move(seat);
  }
  return out;
}

Result<std::optional<Roster::Seat>> Roster::place_of(const Progress& newcomer) const {
  using std::chrono::milliseconds;
  const auto region = regions_.find(newcomer.region);
  const size_t here = region == regions_.end() ? 0 : region->second.size();
  const bool full_here = here >= limits_.agents_a_region;
  if (!full_here && count_ < limits_.agents) return std::optional<Seat>();
  const int64_t now = newcomer.seen_at_unix_ms;
  std::optional<Seat> seat;
  if (here > 0) seat = silent(newcomer.region, region->second, now - silence.count());
  if (!seat && !full_here) seat = silent_anywhere(now - milliseconds(long_silence).count());
  if (seat) return seat;
  const std::string where = full_here ? "region \"" + newcomer.region + "\" has" : "the server has";
  return Error{Code::failed_precondition,
               where + " " + std::to_string(full_here ? here : count_) + " agents already (" +
                   (full_here ? "agents_per_region_max" : "agents_max") +
                   "): stop one, or forget one with davit agent forget",
               "agent"};
}

void Roster::heard(const Progress& said) {
  const auto [agent, is_new] = regions_[said.region].try_emplace(said.agent);
  agent->second.seen_at_unix_ms = said.seen_at_unix_ms;
  if (said.sequence != 0) agent->second.newest = {said.epoch, said.sequence};
  count_ += is_new ? 1 : 0;
}

void Roster::gone(const Seat& seat) {
  const auto region = regions_.find(seat.region);
  if (region == regions_.end()) return;
  count_ -= region->second.erase(seat.agent);
  if (region->second.empty()) regions_.erase(region);
}

void Roster::replace(const std::vector<Progress>& stored) {
  Roster now(limits_);
  for (const Progress& p : stored) {
    now.heard(p);
    if (const Place* before = find(p)) now.regions_[p.region][p.agent].newest = before->newest;
  }
  *this = std::move(now);
}

}  // namespace davit::recorder

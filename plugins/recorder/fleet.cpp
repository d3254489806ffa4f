#include "fleet.hpp"

#include <davit/issues.hpp>

namespace davit::recorder {

std::optional<Cursor> Fleet::applied_before(const Name& name, const std::string& kind) const {
  auto agent = agents_.find(name);
  if (agent == agents_.end()) return std::nullopt;
  for (const auto& k : agent->second.kinds) {
    if (k.kind == kind) return k.applied;
  }
  return std::nullopt;
}

bool Fleet::has_room_for(const Name& name) const {
  if (agents_.contains(name)) return true;
  size_t of_region = 0;
  for (auto it = agents_.lower_bound({name.region, ""});
       it != agents_.end() && it->first.region == name.region; ++it)
    ++of_region;
  return agents_.size() < agents_max_ && of_region < agents_a_region_max_;
}

bool Fleet::heard(const Progress& progress) {
  const Name name{progress.region, progress.agent};
  if (!has_room_for(name)) return false;
  Agent& agent = agents_[name];
  agent = {progress.kinds, {}, progress.seen_at_unix_ms, false};
  for (const auto& issue : progress.issues) ++agent.issues[issue.condition];
  return true;
}

std::vector<Fleet::Name> Fleet::forget(int64_t seen_before_unix_ms) {
  std::vector<Name> out;
  for (auto& [name, agent] : agents_) {
    if (agent.forgotten || agent.seen_at_unix_ms >= seen_before_unix_ms) continue;
    agent = {{}, {}, 0, true};
    out.push_back(name);
  }
  return out;
}

Fleet::Issues Fleet::issues(const std::string& region) const {
  Issues out;
  for (const char* condition : issues::all) out.emplace(condition, 0);
  for (auto it = agents_.lower_bound({region, ""});
       it != agents_.end() && it->first.region == region; ++it) {
    for (const auto& [condition, count] : it->second.issues) {
      // Only the conditions of the contract count, not others that a peer sends.
      if (auto known = out.find(condition); known != out.end()) known->second += count;
    }
  }
  return out;
}

}  // namespace davit::recorder

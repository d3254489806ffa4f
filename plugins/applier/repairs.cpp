#include "repairs.hpp"

#include <algorithm>

namespace davit::applier {

void Repairs::note(const Repair& repair, const Limits& limits, Time now, uint64_t random) {
  Fight& fight =
      by_path_.try_emplace(repair.path, Fight{Backoff(limits.wait), {}, {}, {}, {}}).first->second;
  fight.object = repair.object;
  fight.by = repair.by;
  fight.last = now;
  fight.not_before = now + fight.backoff.next(random);
}

Repairs::Time Repairs::wait(const std::string& path, Time now) const {
  const auto it = by_path_.find(path);
  if (it == by_path_.end()) return Time{0};
  return std::max(Time{0}, it->second.not_before - now);
}

void Repairs::forget(const Limits& limits, Time now) {
  std::erase_if(by_path_, [&](const auto& entry) {
    const Fight& fight = entry.second;
    return now - std::max(fight.last, fight.not_before) >= limits.quiet;
  });
}

std::string Repairs::contested(const Limits& limits) const {
  for (const auto& [path, fight] : by_path_) {
    if (fight.backoff.failures() < limits.warn_after) continue;
    return fight.by + " keeps changing " + fight.object +
           ": it is put right again, at growing intervals";
  }
  return {};
}

}  // namespace davit::applier

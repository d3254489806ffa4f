#include "prune.hpp"

#include <algorithm>

namespace davit::applier {
namespace {

// Why nothing at all may be removed; empty: there is no doubt.
std::string doubt(const SnapshotEnd& end, const PruneRules& rules) {
  if (end.proves_nothing(rules)) return "the peer does not say how many records it named";
  if (end.whole()) return {};
  return "the peer named " + std::to_string(*end.live_count) + " records, but " +
         std::to_string(end.counted) + " were counted";
}

}  // namespace

// A store loses records when it is restored or emptied. If the peer tells no history, only the
// versions can show it.
std::string lost(const SnapshotEnd& end, const Candidate& candidate) {
  if (candidate.disputed)
    return "its annotation davit.dev/record names another record than its own name";
  if (candidate.made_of.empty())
    return "somebody has removed its annotations, so nothing tells which record it was made of";
  for (const Cursor at : candidate.made_of) {
    const std::string version = "made of version " + to_string(at.version);
    if (!end.history.empty() && !knows(end.history, at))
      return version + " of another history of the store";
    if (end.at_version && at.version > *end.at_version)
      return version + ", which the store does not know";
  }
  return {};
}

void SnapshotEnd::reach(Cursor at) {
  at_version = std::max(at_version.value_or(Version()), at.version);
  if (!history.empty() && history.back().incarnation == at.incarnation)
    history.back().version = std::max(history.back().version, at.version);
}

History continued(History before, const History& told, Cursor at) {
  if (!told.empty()) {
    const auto from = std::ranges::find(before, told.front().incarnation, &Cursor::incarnation);
    before.erase(from, before.end());
    before.insert(before.end(), told.begin(), told.end());
  }
  const bool named = !before.empty() && before.back().incarnation == at.incarnation;
  if (!named && at.incarnation) before.push_back(at);
  return before;
}

void SnapshotEnd::go_on(const History& told, Cursor at) {
  history = continued(std::move(history), told, at);
  reach(at);
}

PruneDecision prune(const SnapshotEnd& end, const std::vector<Candidate>& candidates,
                    const PruneRules& rules) {
  PruneDecision out;
  if (candidates.empty()) return out;
  std::string why = doubt(end, rules);
  const bool expected = end.proves_nothing(rules);
  std::vector<uint64_t> removable;
  for (const auto& c : candidates) {
    if (!why.empty()) {
      out.orphans.push_back({c.entry, "not named by the snapshot; not removed: " + why});
    } else if (std::string why_lost = lost(end, c); !why_lost.empty()) {
      out.orphans.push_back({c.entry, std::move(why_lost)});
    } else {
      // The share guards against a peer that leaves out what lives. A tombstone is a delete, so it
      // does not count.
      (c.proven_deleted ? out.remove : removable).push_back(c.entry);
    }
  }
  if (!why.empty()) {
    if (!expected) out.refusal = why;
    return out;
  }
  const uint64_t all = end.counted + candidates.size();
  if (removable.size() > rules.always_allowed &&
      removable.size() * 100 > all * rules.share_max_percent) {
    out.refusal = std::to_string(removable.size()) + " of " + std::to_string(all) +
                  " records would go, more than " + std::to_string(rules.share_max_percent) +
                  " percent";
    for (uint64_t entry : removable) {
      out.orphans.push_back({entry, "not named by the snapshot; not removed: " + out.refusal});
    }
    return out;
  }
  out.remove.insert(out.remove.end(), removable.begin(), removable.end());
  return out;
}

}  // namespace davit::applier

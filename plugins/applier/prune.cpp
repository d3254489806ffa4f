#include "prune.hpp"

namespace davit::applier {
namespace {

// Why nothing at all may go; empty: it may.
std::string doubt(const SnapshotEnd& end, const PruneRules& rules) {
  if (end.new_history) return "the store's history has changed";
  if (!end.live_count)
    return rules.on_close ? "" : "the peer does not say how many records it named";
  if (*end.live_count == end.counted) return {};
  return "the peer named " + std::to_string(*end.live_count) + " records, but " +
         std::to_string(end.counted) + " were counted";
}

}  // namespace

Verdict prune(const SnapshotEnd& end, const std::vector<Candidate>& candidates,
              const PruneRules& rules) {
  Verdict out;
  if (candidates.empty()) return out;
  std::string why = doubt(end, rules);
  const bool expected = end.new_history || (!end.live_count && !rules.on_close);
  std::vector<uint64_t> removable;
  for (const auto& c : candidates) {
    if (!why.empty()) {
      out.orphans.push_back({c.slot, "not named by the snapshot; not removed: " + why});
    } else if (end.at_version && c.version > *end.at_version) {
      // Made of a version that this store has not reached: the store has lost it, nobody has
      // deleted it.
      out.orphans.push_back({c.slot, "made of version " + std::to_string(c.version) +
                                         ", which the store does not know"});
    } else {
      removable.push_back(c.slot);
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
    for (uint64_t slot : removable) {
      out.orphans.push_back({slot, "not named by the snapshot; not removed: " + out.refusal});
    }
    return out;
  }
  out.remove = std::move(removable);
  return out;
}

}  // namespace davit::applier

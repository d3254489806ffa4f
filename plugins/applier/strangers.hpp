// Incarnations of the store that objects are stamped with, and that the peer's history does not
// name: one that the store has lost, another store's, or one that has begun since the peer was
// heard last, of which another agent has read. Only the last is later than what this agent knows.
// The peer tells them apart: what it does not name although it has spoken since is none of its own.
// Thread-compatible.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

namespace davit::applier {

using Incarnations = std::set<uint64_t>;

class Strangers {
 public:
  // An object says so. `now`: of any steady clock, the same in each call.
  void seen(uint64_t incarnation, std::chrono::nanoseconds now);
  // The peer says that its store is still in the incarnation that it has named. What it said may
  // have been on its way when the object was seen: only what comes later than that counts.
  // True: there are more of the known.
  bool word(std::chrono::nanoseconds now);
  // The store is in another incarnation: what was known may be of its history now.
  void forget();
  // Those that are not later than what this agent knows. Never NULL.
  const std::shared_ptr<const Incarnations>& known() const { return known_; }

 private:
  std::map<uint64_t, std::chrono::nanoseconds> seen_;  // since when, no word has come
  std::shared_ptr<const Incarnations> known_ = std::make_shared<const Incarnations>();
};

}  // namespace davit::applier

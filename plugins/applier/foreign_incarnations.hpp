// ForeignIncarnations: the incarnations that objects are stamped with and that the peer's history
// does not name. Such an incarnation was lost by the store, belongs to another store, or began
// since the peer was heard last and another agent has read from it. Only an object of the last sort
// is later than what this agent knows. The peer tells the cases apart: an incarnation that it still
// does not name in a later message is not one of its own. The hub keeps one for each kind, and
// reconciliations read the known ones. Thread-compatible.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include <davit/number.hpp>

namespace davit::applier {

using Incarnations = std::set<Incarnation>;

class ForeignIncarnations {
 public:
  // An object names the incarnation. `now`: of any steady clock, the same in each call.
  void seen(Incarnation incarnation, std::chrono::nanoseconds now);
  // The peer confirms that its store is still in the incarnation that it has named. A message may
  // have been on its way when an object was seen, so it counts only for objects that were seen at
  // least 15 s before. True: the set of known incarnations has grown.
  bool confirmed(std::chrono::nanoseconds now);
  // The store is in another incarnation. What was known may now be part of its history.
  void forget();
  // Incarnations that are not later than what this agent knows. Never NULL.
  const std::shared_ptr<const Incarnations>& known() const { return known_; }

 private:
  // When each was seen first; no confirmation has come since.
  std::map<Incarnation, std::chrono::nanoseconds> seen_;
  std::shared_ptr<const Incarnations> known_ = std::make_shared<const Incarnations>();
};

}  // namespace davit::applier

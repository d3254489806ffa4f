#include "drift.hpp"

#include "object.hpp"

namespace davit::applier {
namespace {

// `same`: this process has applied what is wanted now.
Drift drift_of_unshown(ObjectState::Presence presence, bool same,
                       std::chrono::nanoseconds repair_wait) {
  // While its watch cannot be trusted, an object that was applied counts as being there.
  if (same && presence == ObjectState::Presence::unseen) return Drift::none;
  if (same && repair_wait.count() > 0) return Drift::remake_later;
  // It may exist where our selector does not find it.
  if (presence != ObjectState::Presence::absent) return Drift::read;
  return same ? Drift::repair : Drift::apply;
}

// After a restart nothing is known of an apply: the stamp and plain equality decide.
bool unchanged(const WantedObject& wanted, const ObjectContent& content, const Applied* applied) {
  if (applied == nullptr)
    return content.hash == hex(wanted.rendered) && content.projected == wanted.rendered;
  return applied->rendered == wanted.rendered && applied->projected == content.projected;
}

}  // namespace

Drift ownership(const std::string& owner, bool stamped, bool adopt) {
  if (!owner.empty()) return Drift::foreign;
  return stamped || adopt ? Drift::none : Drift::not_adopted;
}

Drift fence(Cursor made_of, const Knowledge& known) {
  if (cannot_be_placed(made_of, known)) return Drift::unplaced;
  return made_later(made_of, known) ? Drift::made_later : Drift::none;
}

Drift drift(const WantedObject& wanted, const ObjectState& state, const LastApply& last,
            const Knowledge& known) {
  const Applied* applied = last.applied;
  const bool same = applied != nullptr && applied->rendered == wanted.rendered;
  if (state.presence != ObjectState::Presence::known)
    return drift_of_unshown(state.presence, same, last.repair_wait);
  if (!state.content) {
    const bool as_applied =
        same && !last.expired && applied->resource_version == state.resource_version;
    return as_applied && of_this_history(applied->made_of, known) ? Drift::none : Drift::examine;
  }
  const ObjectContent& content = *state.content;
  const Drift whose = ownership(content.owner, content.stamped, wanted.adopt);
  if (whose != Drift::none) return whose;
  if (content.terminating) return Drift::terminating;
  const bool as_wanted = unchanged(wanted, content, applied);
  if (as_wanted && !last.expired && of_this_history(content.made_of, known)) return Drift::none;
  const Drift fenced = wanted.shared ? Drift::none : fence(content.made_of, known);
  if (fenced != Drift::none) return fenced;
  // What the kind renders has changed, or what was resolved, or the stamps name a history that the
  // store has lost.
  if (!same || as_wanted) return Drift::apply;
  return last.repair_wait.count() > 0 ? Drift::repair_later : Drift::repair;
}

}  // namespace davit::applier

#include "decision.hpp"

#include <algorithm>

namespace davit::desired {

const char* word_of(OutcomeType type) {
  switch (type) {
    case OutcomeType::undecided:
      return "";
    case OutcomeType::created:
      return "created";
    case OutcomeType::changed:
      return "changed";
    case OutcomeType::unchanged:
      return "unchanged";
    case OutcomeType::applied:
      return "applied";
    case OutcomeType::deleted:
      return "deleted";
    case OutcomeType::absent:
      return "absent";
    case OutcomeType::refused:
      return "refused";
  }
  return "";
}

bool is_absent(const std::optional<Record>& stored) {
  return !stored || stored->state == "deleted";
}

Decision decide_apply(const Record& wanted, const std::optional<Record>& stored,
                      const SamePayload& same, bool again) {
  if (!stored) return {OutcomeType::created, Version(), Mutation{wanted, Version()}, {}};
  Pairs annotations = stored->annotations;
  std::sort(annotations.begin(), annotations.end());
  const bool unchanged = stored->state == wanted.state && stored->live == wanted.live &&
                         annotations == wanted.annotations && same(stored->payload, wanted.payload);
  if (unchanged && !again) return {OutcomeType::unchanged, stored->version, {}, {}};
  if (unchanged) return {OutcomeType::applied, Version(), Mutation{wanted, stored->version}, {}};
  const bool revived = wanted.live && !stored->live;
  return {revived ? OutcomeType::created : OutcomeType::changed,
          Version(),
          Mutation{wanted, stored->version},
          {}};
}

Decision decide_delete(const Key& key, const std::optional<Record>& stored,
                       const std::string& author, const Issue* orphan) {
  const bool dead = is_absent(stored);
  // The object may have been made from a later version than an older tombstone, so make a new one.
  const bool confirmed = dead && orphan != nullptr && !orphan->name.empty();
  if (dead && !confirmed)
    return {OutcomeType::absent, stored ? stored->version : Version(), {}, {}};
  Mutation m{stored.value_or(Record()), stored ? stored->version : Version()};
  std::string note;
  if (confirmed) {
    m.record.key = key;
    m.record.ns = orphan->ns;
    m.record.name = orphan->name;
    note = "an orphan: its agent removes " + orphan->ns + "/" + orphan->name;
  }
  m.record.state = "deleted";
  m.record.live = false;
  m.record.author = author;
  return {OutcomeType::deleted, Version(), std::move(m), {}, std::move(note)};
}

}  // namespace davit::desired

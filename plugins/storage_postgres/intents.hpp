// The table `intents`: what other programs want records to be (abi/storage_intents.h). A commit
// writes the outcomes of the intents that its groups carry out; settle_intent writes those of the
// others. Throws Faults.
#pragma once

#include <set>

#include "davit/storage_intents.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

// At most `limit` open ones above `after`, in ascending order, and not many more bytes than a page
// of records has.
std::vector<storage::Intent> open_intents(Session& session, uint64_t after, uint32_t limit);

struct OpenIntents {
  std::set<uint64_t> ours;    // they stay open until the transaction ends or writes their outcomes
  std::set<uint64_t> others;  // another transaction may be about to decide or to remove them
};
// Locks those of the groups' intents that are open. Whoever may insert and delete intents can keep
// rows locked for long, so it waits for nobody.
OpenIntents lock_intents(Session& session, const std::vector<Group>& groups);

// An intent that is carried out, and the version that it made.
struct CarriedOut {
  uint64_t intent = 0;
  Version version{};
};
// Writes the outcomes of open intents that the caller has locked.
void write_outcomes(Session& session, Incarnation incarnation,
                    const std::vector<CarriedOut>& carried_out);
// Writes the outcome unless there is one. Waits for nobody: throws a Fault when another transaction
// has the intent.
void settle_intent(Session& session, const storage::IntentOutcome& outcome);

// Forgets intents that were decided longer ago than that, a bounded number. True: there may be
// more.
bool forget_intents(Session& session, std::chrono::milliseconds age);

}  // namespace davit::storage_postgres

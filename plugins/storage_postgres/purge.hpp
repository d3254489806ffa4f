// Removes tombstones, and what hangs on them, some at a time. What may wait comes first, as in
// commit.hpp. Throws Faults.
#pragma once

#include "davit/storage.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

class PurgeBatch {
 public:
  explicit PurgeBatch(Version through) : through_(through) {}

  // Locks the next tombstones and their statuses. May wait for other sessions. `head` is that of
  // the transaction's beginning: what has died since is left for later.
  void prepare(Session& session, const Head& head);
  // The caller holds the row `store`; see CommitBatch::carry_out. Returns whether there are more.
  bool carry_out(Session& session, Head& head);

 private:
  Version through_;
  bool full_ = false;      // there may be more tombstones than these
  Version locked_upto_{};  // the newest version of those that are locked
  Values keys_;            // kinds, regions and ids
};

}  // namespace davit::storage_postgres

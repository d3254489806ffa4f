// Removes tombstones, and what hangs on them, some at a time. Throws Faults.
#pragma once

#include "davit/storage.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

class PurgeBatch {
 public:
  explicit PurgeBatch(Version through) : through_(through) {}

  // Waits for other sessions that hold the tables, the next tombstones or their statuses, and locks
  // them.
  void wait(Session& session) const;
  // The caller holds the row `store`. Returns whether there are more.
  bool carry_out(Session& session, Head& head) const;

 private:
  const Version through_;
};

}  // namespace davit::storage_postgres

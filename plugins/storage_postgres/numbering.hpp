// How a transaction comes by the numbers that it gives, and how it leaves them. It holds the row
// `store` in between and until it has ended, so versions become visible in their order. This is
// apart from the other files, so that the torture can show what a plain sequence loses
// (tests/torture/storage_sequence). Throws Faults.
#pragma once

#include "continuity.hpp"

namespace davit::storage_postgres {

// Takes the row `store` until the transaction ends: nobody else gives numbers meanwhile. The new
// ones follow the heads of the state that is returned.
pqxx::result take_counters(Session& session);
// Writes the row. The last act before the commit. `head` becomes what the row has then.
void leave_counters(Session& session, Head& head);

}  // namespace davit::storage_postgres

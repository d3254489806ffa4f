// Stores and reads statuses and their children, within a transaction that the caller has begun.
#pragma once

#include "chain.hpp"
#include "connection.hpp"
#include "davit/storage.hpp"

namespace davit::storage_sqlite {

// Stores the statuses that are newer than the stored ones, and returns their number.
size_t store_statuses(Connection& connection, const Chain& chain,
                      const std::vector<Status>& statuses, int64_t now_unix_ms);

// Visits the statuses above `after`, and returns where to continue. `status_head` is the newest in
// this snapshot.
uint64_t read_statuses(Connection& connection, const Scope& scope, uint64_t after, uint32_t limit,
                       uint64_t status_head, const storage::VisitStatus& visit);

}  // namespace davit::storage_sqlite

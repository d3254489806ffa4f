// Stores and reads statuses and their children, within a transaction that the caller has begun.
#pragma once

#include "connection.hpp"
#include "davit/storage.hpp"
#include "davit/storage_chain.hpp"

namespace davit::storage_sqlite {

// Stores the statuses that are newer than the stored ones, and returns their number.
size_t store_statuses(Connection& connection, const storage::Chain& chain,
                      const std::vector<Status>& statuses, int64_t now_unix_ms);

// Keeps a status as it is, unless the stored one has its version or a later one. Its record may be
// missing.
void load_status(Connection& connection, const Status& status);

// A cursor that is out of range (abi/storage.h) becomes the connection's failure.
StatusPage read_statuses(Connection& connection, const storage::Chain& chain,
                         const StatusRead& request, const storage::VisitStatus& visit);

}  // namespace davit::storage_sqlite

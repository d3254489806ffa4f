// Removes tombstones, in transactions so small that writers do not notice.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// Runs within a write transaction. Removes the oldest tombstones at or below `through` (never above
// the head), with their statuses, and raises the purge mark accordingly. True: there is more to do.
bool purge_some(Connection& connection, Version through);

}  // namespace davit::storage_sqlite

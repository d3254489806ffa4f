// Removing tombstones, in transactions small enough that writers do not notice.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// Within a write transaction: removes the oldest tombstones at or below `through` (never above the
// head), with their statuses, and raises the purge mark as far as it got. True when there is more
// to do.
bool purge_some(Connection& connection, uint64_t through);

}  // namespace davit::storage_sqlite

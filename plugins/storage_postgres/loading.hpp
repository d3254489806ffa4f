// Takes a copy of another store (abi/storage_move.h). While a store is loading, its row `store` has
// the note of the last load, and every server refuses to work with it. The functions run within the
// caller's write transaction, and throw Faults.
#pragma once

#include "continuity.hpp"
#include "davit/storage_move.hpp"

namespace davit::storage_postgres {

// Marks the store as loading, and returns the note of the last load.
std::string begin_loading(Session& session, storage::LoadBegin how);
void load(Session& session, const storage::Load& what);
void finish_loading(Session& session, const storage::LoadEnd& end);

}  // namespace davit::storage_postgres

// Takes a copy of another store (abi/storage_move.h). While a store is loading, its row `store` has
// the note of the last load, and every server refuses to work with it. The functions run within the
// caller's write transaction, and throw Faults.
#pragma once

#include "continuity.hpp"
#include "davit/storage_move.hpp"

namespace davit::storage_postgres {

// An advisory lock says who works with a store: each server has it shared for as long as its
// listener is connected; who copies has it alone. The text is a call of PostgreSQL's, such as
// "SELECT pg_try_advisory_lock(...)", which answers whether the lock was got.
std::string presence_query(const std::string& function, const std::string& schema);

// Likewise which of the servers leads (abi/storage_election.h). Asked again, it answers whether the
// lock is still this connection's, or has become so.
std::string leader_query(const std::string& schema);

// Marks the store as loading, and returns the note of the last load.
std::string begin_loading(Session& session, storage::LoadBegin how);
void load(Session& session, const storage::Load& what);
void finish_loading(Session& session, const storage::LoadEnd& end);

}  // namespace davit::storage_postgres

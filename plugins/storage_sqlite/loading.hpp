// Takes a copy of another store (abi/storage_move.h). While a database is loading, the schema that
// it names is loading_version and it has the table `loading` with the note of the last load. Both
// change in the transactions of what they speak of.
#pragma once

#include "connection.hpp"
#include "davit/storage_chain.hpp"
#include "davit/storage_move.hpp"

namespace davit::storage_sqlite {

// Makes the database at `path`, or takes the one that is there, and marks it as loading. Returns
// the note of the last load. The lock on the database is held meanwhile.
Result<std::string> begin_loading(const std::string& path, storage::LoadBegin how);

// Within the caller's transaction. A database that is not loading fails the connection.
void load(Connection& connection, const storage::Load& what);
void finish_loading(Connection& connection, const storage::LoadEnd& end, int64_t now_unix_ms);

}  // namespace davit::storage_sqlite

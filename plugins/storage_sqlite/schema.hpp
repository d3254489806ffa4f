// Creates the tables, and checks a file before it is opened.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// The schema of this code. A file with another one is refused.
constexpr int64_t schema_version = 2;
// The schema that a file says it has while a copy into it is not complete. So an older davit, which
// knows of no copies, refuses the file, too.
constexpr int64_t loading_version = 1'000'000 + schema_version;

// What a file may be used for. A file that is loading serves nobody (abi/storage_move.h).
enum class Use { serve, observe, observe_alone, load };
constexpr bool is_observed(Use use) {
  return use == Use::observe || use == Use::observe_alone;
}

// Checks the first bytes of the file, and its permissions. Missing and empty files are accepted.
// Changes nothing and takes no lock.
Result<> inspect(const std::string& path, Use use = Use::serve);

// Checks whether a missing folder, and those above it, could be created.
Result<> inspect_new_folder(const std::string& path);

// Checks that the first bytes of a copy are those of a database of ours that this code can read.
Result<> inspect_copy(const std::string& path);

// Checks that only the owner of the lock can make. An empty file whose database was created before
// has lost its content. A restore that was interrupted must be repeated.
Result<> inspect_locked(const std::string& path, bool was_made);

// Creates the tables in an empty database. Refuses one of another program or with another schema,
// and one that is loading, unless it is for loading.
Result<> prepare_schema(Connection& connection, Use use);
// Refuses what prepare_schema refuses, and an empty database. Changes nothing.
Result<> judge_schema(Connection& connection, Use use);
// Whether the file says that it is loading.
bool is_loading(Connection& connection);
// Within the caller's transaction, which sees an empty database.
void create_tables(Connection& connection);
void mark_as_loading(Connection& connection, bool loading);

}  // namespace davit::storage_sqlite

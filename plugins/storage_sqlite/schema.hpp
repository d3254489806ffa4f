// Creates the tables, and checks a file before it is opened.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// The schema of this code. A file with another one is refused.
constexpr int64_t schema_version = 2;

// Checks the first bytes of the file, and its permissions. Missing and empty files are accepted.
// Changes nothing and takes no lock.
Result<> inspect(const std::string& path);

// Checks whether a missing folder, and those above it, could be created.
Result<> inspect_new_folder(const std::string& path);

// Checks that the first bytes of a copy are those of a database of ours that this code can read.
Result<> inspect_copy(const std::string& path);

// Checks that only the owner of the lock can make. An empty file whose database was created before
// has lost its content. A restore that was interrupted must be repeated.
Result<> inspect_locked(const std::string& path, bool was_made);

// Creates the tables in an empty database. Refuses one of another program or with another schema.
Result<> prepare_schema(Connection& connection);

}  // namespace davit::storage_sqlite

// The tables, and what can be said of a file before it is opened.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// Of this code. A file with a higher one is refused; a lower one would be migrated here.
constexpr int64_t schema_version = 1;

// Looks at the file's first bytes and its permissions: missing and empty files are fine. Changes
// nothing, takes no lock.
Result<> inspect(const std::string& path);

// Could a folder that is not there be made, with those above it?
Result<> inspect_new_folder(const std::string& path);

// A copy's first bytes: a database of ours that this code can read.
Result<> inspect_copy(const std::string& path);

// What only whoever has the lock can judge: an empty file of a database that was made before has
// lost it, and a restore that was killed has to be repeated.
Result<> inspect_locked(const std::string& path, bool was_made);

// Makes the tables in an empty database; refuses one of another program or of a newer schema.
Result<> prepare_schema(Connection& connection);

}  // namespace davit::storage_sqlite

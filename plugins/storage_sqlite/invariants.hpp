// What holds of every database of ours, whatever was done to it.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// Reads all of it; the first thing that does not hold, or nothing. SQLite's own errors are found,
// too. Within a transaction, so that it is one state.
std::optional<std::string> find_fault(Connection& connection);

}  // namespace davit::storage_sqlite

// The rules that hold for the tables of every database of ours. `davit storage verify` checks them.
#pragma once

#include "connection.hpp"

namespace davit::storage_sqlite {

// Reads the whole database, including SQLite's own check. Returns the first fault, or nothing. Call
// it within a transaction, so that it sees one state.
std::optional<std::string> find_fault(Connection& connection);

}  // namespace davit::storage_sqlite

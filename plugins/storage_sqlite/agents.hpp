// Where each agent stands, within a transaction that the caller began.
#pragma once

#include "connection.hpp"
#include "davit/storage.hpp"

namespace davit::storage_sqlite {

// Replaces what the same region and agent said before.
void store_progress(Connection& connection, const Progress& progress);
// Unless it was heard of later.
void forget_agent(Connection& connection, const storage::Maintain::ForgetAgent& agent);
void read_agents(Connection& connection, const storage::VisitProgress& visit);

}  // namespace davit::storage_sqlite

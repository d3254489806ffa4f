// Stores and reads the progress of each agent, within a transaction that the caller has begun.
#pragma once

#include "connection.hpp"
#include "davit/storage.hpp"

namespace davit::storage_sqlite {

// Replaces what the same agent of the region reported before.
void store_progress(Connection& connection, const Progress& progress);
// Deletes the agent's rows, unless it was seen later than the given time.
void forget_agent(Connection& connection, const storage::Maintain::ForgetAgent& agent);
// Returns whether there are more.
bool read_agents(Connection& connection, const AgentRead& request,
                 const storage::VisitProgress& visit);

}  // namespace davit::storage_sqlite

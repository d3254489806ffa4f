// Stores and reads the progress of agents. Throws Faults.
#pragma once

#include "davit/storage.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

void store_progress(Session& session, const Progress& progress);
// Forgets the agent, unless it was seen later.
void forget_agent(Session& session, const storage::Maintain::ForgetAgent& agent);
// The agents of a page, and one more when there is one.
std::vector<Progress> read_agents(Session& session, const AgentRead& request);

}  // namespace davit::storage_postgres

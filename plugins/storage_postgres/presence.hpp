// Who works with a store. Each server has an advisory lock shared from its start to its end. Who
// copies or migrates the store has the lock alone, so that no server works with it meanwhile. A
// second lock says which of the servers leads (abi/storage_election.h). Throws Faults.
#pragma once

#include "session.hpp"

namespace davit::storage_postgres {

// Has the store with others until the connection ends. UNAVAILABLE: somebody has it alone.
void share_store(Session& session, const std::string& schema);

// Has the store alone. The error, UNAVAILABLE, names who else works with it.
enum class Until { disconnected, transaction_ends };
Result<> take_store_alone(Session& session, const std::string& schema, Until until);

// The statement that waits until no other migration of the schema runs, and then is one.
std::string wait_for_migration(const std::string& schema);

// Frees what the connection has, before it ends: PostgreSQL notices its end a moment later.
void leave_store(Session& session);

// Whether this connection's process leads: the lock is still its own, or has become so.
bool leads(Session& session, const std::string& schema);

}  // namespace davit::storage_postgres

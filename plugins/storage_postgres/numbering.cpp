#include "numbering.hpp"

namespace davit::storage_postgres {

pqxx::result take_counters(Session& session) {
  return session.script(state_query(session.server(), "FOR UPDATE"));
}

void leave_counters(Session& session, Head& head) {
  write_store(session, head);
}

}  // namespace davit::storage_postgres

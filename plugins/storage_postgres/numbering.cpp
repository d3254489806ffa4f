#include "numbering.hpp"

namespace davit::storage_postgres {

StoreState take_counters(Session& session) {
  return read_store(session, "SELECT FROM store FOR UPDATE; SET LOCAL lock_timeout = '10ms'");
}

void leave_counters(Session& session, Head& head) {
  write_store(session, head);
}

}  // namespace davit::storage_postgres

#include "stored_chain.hpp"

#include "connection.hpp"

namespace davit::storage_sqlite {

storage::Chain stored_chain(Connection& connection) {
  storage::Chain out;
  Statement s = connection.query(
      "SELECT incarnation, first_version, first_status_version FROM incarnations ORDER BY number");
  while (s.step())
    out.append({Incarnation(s.number(0)), Version(s.number(1)), Version(s.number(2))});
  return out;
}

}  // namespace davit::storage_sqlite

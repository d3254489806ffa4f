// What the torture asks of a PostgreSQL database.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

namespace davit::torture {

using Connection = std::unique_ptr<PGconn, void (*)(PGconn*)>;
using Rows = std::unique_ptr<PGresult, void (*)(PGresult*)>;

// Both throw std::runtime_error with the database's words.
Connection connect_postgres(const std::string& text);
Rows ask(PGconn* connection, const std::string& sql, const std::vector<std::string>& values = {});

// A NULL is read as an empty text, and as 0.
inline std::string text(const Rows& rows, int row, int column) {
  return {PQgetvalue(rows.get(), row, column),
          static_cast<size_t>(PQgetlength(rows.get(), row, column))};
}
inline uint64_t number(const Rows& rows, int row, int column) {
  return std::strtoull(PQgetvalue(rows.get(), row, column), nullptr, 10);
}

}  // namespace davit::torture

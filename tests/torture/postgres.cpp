#include "postgres.hpp"

#include <stdexcept>

#include "intents.hpp"

namespace davit::torture {

Connection connect_postgres(const std::string& text) {
  Connection out(PQconnectdb(text.c_str()), &PQfinish);
  if (PQstatus(out.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(out.get()));
  return out;
}

Rows ask(PGconn* connection, const std::string& sql, const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  for (const std::string& value : values) texts.push_back(value.c_str());
  Rows out(PQexecParams(connection, sql.c_str(), static_cast<int>(texts.size()), nullptr,
                        texts.data(), nullptr, nullptr, 0),
           &PQclear);
  const auto status = PQresultStatus(out.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    throw std::runtime_error(PQerrorMessage(connection));
  return out;
}

Intents::Intents(const std::string& connection) : connection_(connect_postgres(connection)) {}

std::vector<std::string> Intents::insert(const std::vector<std::string>& documents) {
  std::vector<std::string> out;
  ask(connection_.get(), "BEGIN");
  for (const std::string& document : documents) {
    const Rows made =
        ask(connection_.get(), "INSERT INTO davit.intents (document) VALUES ($1) RETURNING id",
            {document});
    out.push_back(text(made, 0, 0));
  }
  ask(connection_.get(), "COMMIT");
  return out;
}

std::optional<Intents::Outcome> Intents::outcome(const std::string& id) {
  const Rows found = ask(connection_.get(),
                         "SELECT version, concat_ws(': ', code, field, error) FROM davit.intents "
                         "WHERE id = $1::bigint AND state <> 'open'",
                         {id});
  if (PQntuples(found.get()) == 0) return std::nullopt;
  return Outcome{number(found, 0, 0), text(found, 0, 1)};
}

}  // namespace davit::torture

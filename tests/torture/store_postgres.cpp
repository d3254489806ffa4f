#include "load.hpp"
#include "postgres.hpp"
#include "store.hpp"

namespace davit::torture {
namespace {

// "\\x0aff"
std::string bytes_of(const std::string& hex) {
  std::string out;
  for (size_t i = 2; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

}  // namespace

Stored read_postgres(const std::string& text_of_connection) {
  const Connection connection = connect_postgres(text_of_connection);
  const auto ask_it = [&](const char* sql) { return ask(connection.get(), sql); };
  Stored out;
  ask_it("BEGIN ISOLATION LEVEL REPEATABLE READ");  // one moment
  const Rows store = ask_it("SELECT head, purged_through FROM davit.store");
  out.head = number(store, 0, 0);
  out.purged_through = number(store, 0, 1);
  const Rows records = ask_it(
      "SELECT kind, region, name, id, payload, request_id, version, live::int FROM davit.records");
  for (int i = 0; i < PQntuples(records.get()); ++i) {
    Row r;
    r.topic = {text(records, i, 0), text(records, i, 1)};
    r.name = text(records, i, 2);
    r.id = text(records, i, 3);
    r.content = content_of(r.topic.kind, bytes_of(text(records, i, 4)));
    r.request_id = request_id(text(records, i, 5));
    r.version = number(records, i, 6);
    r.live = number(records, i, 7) != 0;
    out.rows.push_back(std::move(r));
  }
  const Rows requests = ask_it("SELECT request_id, first_version FROM davit.requests");
  for (int i = 0; i < PQntuples(requests.get()); ++i)
    out.requests[request_id(text(requests, i, 0))] = number(requests, i, 1);
  return out;
}

}  // namespace davit::torture

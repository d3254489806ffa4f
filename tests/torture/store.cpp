#include "store.hpp"

#include <sqlite3.h>

#include <functional>
#include <stdexcept>

#include "load.hpp"
#include "postgres.hpp"

namespace davit::torture {
namespace {

class Database {
 public:
  explicit Database(const std::string& path) {
    if (sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) fail();
    sqlite3_busy_timeout(handle_, 10'000);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(handle_); }

  void each(const char* sql, const std::function<void(sqlite3_stmt*)>& visit) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) != SQLITE_OK) fail();
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) visit(statement);
    sqlite3_finalize(statement);
    if (step != SQLITE_DONE) fail();
  }

 private:
  [[noreturn]] void fail() { throw std::runtime_error(sqlite3_errmsg(handle_)); }
  sqlite3* handle_ = nullptr;
};

std::string text(sqlite3_stmt* row, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(row, column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}
uint64_t number(sqlite3_stmt* row, int column) {
  return static_cast<uint64_t>(sqlite3_column_int64(row, column));
}

Stored read_sqlite(const std::string& path) {
  Database database(path);
  Stored out;
  database.each("BEGIN", [](sqlite3_stmt*) {});  // one moment
  database.each("PRAGMA integrity_check", [](sqlite3_stmt* row) {
    if (text(row, 0) != "ok") throw std::runtime_error("integrity_check: " + text(row, 0));
  });
  database.each("SELECT head, purged_through FROM store", [&](sqlite3_stmt* row) {
    out.head = number(row, 0);
    out.purged_through = number(row, 1);
  });
  database.each("SELECT kind, region, name, id, payload, request_id, version, live FROM records",
                [&](sqlite3_stmt* row) {
                  Row r;
                  r.topic = {text(row, 0), text(row, 1)};
                  r.name = text(row, 2);
                  r.id = text(row, 3);
                  r.content = content_of(r.topic.kind, text(row, 4));
                  r.request_id = request_id(text(row, 5));
                  r.version = number(row, 6);
                  r.live = number(row, 7) != 0;
                  out.rows.push_back(std::move(r));
                });
  database.each("SELECT request_id, first_version FROM requests", [&](sqlite3_stmt* row) {
    out.requests[request_id(text(row, 0))] = number(row, 1);
  });
  return out;
}

}  // namespace

Stored read_store(const std::string& database) {
  return database.find('=') == std::string::npos ? read_sqlite(database) : read_postgres(database);
}

}  // namespace davit::torture

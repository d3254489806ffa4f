#include "connection.hpp"

#include <cerrno>
#include <thread>

namespace davit::storage_sqlite {
namespace {

constexpr int watch_every_steps = 4'000;  // of SQLite's machine: well under a millisecond

bool no_space(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

// The data has been written by then, so the commit may be kept even though the flush failed.
bool is_sync(int code) {
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

// The operating system's error when a file of this connection last failed. Asks the journal first,
// which receives nearly all writes, then the database file. sqlite3_system_errno() knows only
// errors of opening.
int system_error_of(sqlite3* db) {
  if (db == nullptr) return 0;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int error = 0;
    if (sqlite3_file_control(db, "main", which, &file) != SQLITE_OK || file == nullptr) continue;
    // The journal of a database in memory has no such function.
    if (file->pMethods == nullptr || file->pMethods->xFileControl == nullptr) continue;
    if (file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error) == SQLITE_OK &&
        error != 0)
      return error;
  }
  return sqlite3_system_errno(db);
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, int flags) {
  std::unique_ptr<Connection> c(new Connection(path));
  const int code = sqlite3_open_v2(path.c_str(), &c->db_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return c->translate(code);
  sqlite3_extended_result_codes(c->db_, 1);
  sqlite3_busy_timeout(c->db_, busy_timeout_ms);
  return c;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

sqlite3_stmt* Connection::prepare(const char* sql) {
  if (failed()) return nullptr;
  if (const auto at = statements_.find(sql); at != statements_.end()) return at->second;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    fail(translate(code));
    return nullptr;
  }
  statements_.emplace(sql, statement);
  return statement;
}

void Connection::script(const char* sql) {
  if (failed()) return;
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(translate(code));
}

void Connection::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Error Connection::take_error() {
  Error e = std::move(*error_);
  error_.reset();
  return e;
}

Error Connection::translate(int code) const {
  const int system_error = system_error_of(db_);
  const std::string detail = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
  const auto error = [&](Code c, const std::string& text) {
    return Error{c, "database \"" + path_ + "\": " + text, path_};
  };
  const int primary = code & 0xff;
  if (is_sync(code)) {
    return error(Code::unavailable,
                 "the disk did not confirm a write (" +
                     std::string(system_error == 0 ? detail : std::strerror(system_error)) +
                     "): whether it is kept is not known, so ask again; look at the disk");
  }
  if (primary == SQLITE_FULL || (primary == SQLITE_IOERR && no_space(system_error))) {
    return error(Code::resource_exhausted,
                 "no space is left on its disk: make room; nothing was written");
  }
  const std::string reason =
      system_error == 0 ? detail : detail + ", " + std::strerror(system_error);
  switch (primary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(Code::unavailable, "is locked by another program: end its transaction");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return error(Code::data_loss,
                   "is corrupt (" + detail + "): restore a backup, or move it away to begin anew");
    case SQLITE_READONLY:
      return error(Code::failed_precondition,
                   "is read-only: make the file and its directory writable");
    case SQLITE_CANTOPEN:
      return error(Code::failed_precondition,
                   "cannot be opened (" + reason + "): correct the path or its permissions");
    case SQLITE_IOERR:
      return error(Code::unavailable,
                   "cannot be read or written (" + reason + "): look at its disk");
    default:
      return error(Code::internal, detail + " (sqlite " + std::to_string(code) + ")");
  }
}

Connection::Watch::Watch(Connection& connection, const Op& op, const Host& host)
    : connection_(connection), op_(op), host_(host) {
  if (over(this) != 0) return;
  sqlite3_progress_handler(connection_.get(), watch_every_steps, &over, this);
  sqlite3_busy_handler(connection_.get(), &busy, this);
}

Connection::Watch::~Watch() {
  sqlite3_progress_handler(connection_.get(), 0, nullptr, nullptr);
  sqlite3_busy_timeout(connection_.get(), busy_timeout_ms);
}

int Connection::Watch::over(void* self) {
  auto& watch = *static_cast<Watch*>(self);
  auto why = given_up(watch.op_, watch.host_.now());
  if (!why) return 0;
  watch.connection_.fail(std::move(*why));
  return 1;
}

// Another program has a lock. Returns 1 to try again.
int Connection::Watch::busy(void* self, int times) {
  constexpr std::chrono::milliseconds pause{5};
  auto& watch = *static_cast<Watch*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (times == 0) watch.busy_since_ = now;
  if (over(self) != 0) return 0;
  if (now - watch.busy_since_ >= std::chrono::milliseconds(busy_timeout_ms)) return 0;
  std::this_thread::sleep_for(pause);
  return 1;
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Statement::step() {
  if (statement_ == nullptr || connection_.failed()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (is_sync(code)) connection_.unsettled_ = true;
  if (code != SQLITE_DONE) connection_.fail(connection_.translate(code));
  return false;
}

std::string_view Statement::text(int column) const {
  const auto* at = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {at == nullptr ? "" : at, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Statement::blob(int column) const {
  const auto* at = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {at == nullptr ? "" : at, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

// An empty view may have no address, and SQLite would take that for NULL.
void Statement::bind(int at, std::string_view text) {
  if (statement_ == nullptr) return;
  sqlite3_bind_text64(statement_, at, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind(int at, Blob blob) {
  if (statement_ == nullptr) return;
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  sqlite3_bind_blob64(statement_, at, data, blob.bytes.size(), SQLITE_STATIC);
}

void Statement::bind(int at, int64_t integer) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, at, integer);
}

void Statement::bind(int at, std::nullptr_t) {
  if (statement_ != nullptr) sqlite3_bind_null(statement_, at);
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
  connection_.run(kind == Kind::read ? "BEGIN" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) roll_back();
}

void Transaction::roll_back() {
  open_ = false;
  // After some errors SQLite has already rolled back. Otherwise a rollback needs no disk space and
  // cannot fail.
  if (sqlite3_get_autocommit(connection_.get()) == 0) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

Result<> Transaction::commit() {
  connection_.run("COMMIT");
  if (connection_.failed()) {
    roll_back();
    return connection_.take_error();
  }
  open_ = false;
  return {};
}

}  // namespace davit::storage_sqlite

// SQLite's C API behind three small classes: a connection, a use of one of its prepared statements,
// and a transaction.
//
// Errors stick: after the first failure of a connection its statements give no rows and change
// nothing, and error() says what happened. So code that works through rows needs no check at every
// step; whoever began the transaction checks once at its end. One thread at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <unordered_map>

#include "davit/host.hpp"

namespace davit::storage_sqlite {

class Statement;

class Connection {
 public:
  // Another program may hold the file for a moment (a query, a tool).
  static constexpr int busy_timeout_ms = 5'000;

  // flags: SQLITE_OPEN_... `path` is what errors name.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, int flags);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The statement, prepared once for each connection, with its parameters. `sql` must be a literal
  // (it is known by its address) and not be in use already. Texts are borrowed until the Statement
  // goes.
  template <class... Parameter>
  Statement query(const char* sql, const Parameter&... parameters);
  // Runs it to its end; rows are dropped.
  template <class... Parameter>
  void run(const char* sql, const Parameter&... parameters);
  // Several statements at once, not kept.
  void script(const char* sql);

  bool failed() const { return error_.has_value(); }
  // The disk has not confirmed a commit: what the file has is not known until it is opened anew.
  bool unsettled() const { return unsettled_; }
  // The first failure since the last call, which it ends. Only when failed().
  Error take_error();
  // Anything the caller finds wrong counts as the connection's failure.
  void fail(Error error);
  // An error of SQLite's in the words of house style, with the file and what to do.
  Error translate(int code) const;

  // Until it goes, long statements of the connection end with CANCELLED or DEADLINE_EXCEEDED as the
  // op says.
  class Watch {
   public:
    Watch(Connection& connection, const Op& op, const Host& host);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    static int over(void* self);
    Connection& connection_;
    const Op op_;
    const Host host_;
  };

  sqlite3* get() const { return db_; }
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  explicit Connection(std::string path) : path_(std::move(path)) {}
  sqlite3_stmt* prepare(const char* sql);

  const std::string path_;
  sqlite3* db_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
  std::optional<Error> error_;
  bool unsettled_ = false;
};

// Bytes as a parameter; a plain string_view is text.
struct Blob {
  std::string_view bytes;
};

// One use of a prepared statement, which it resets when it goes.
class Statement {
 public:
  Statement(Connection& connection, sqlite3_stmt* statement)
      : connection_(connection), statement_(statement) {}
  ~Statement();
  Statement(Statement&& o) noexcept
      : connection_(o.connection_), statement_(std::exchange(o.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;

  // The next row. False at the end, and when the connection has failed.
  bool step();
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  // Versions, epochs and sequences are unsigned to us, signed to SQLite: the same bits.
  uint64_t number(int column) const { return static_cast<uint64_t>(integer(column)); }
  // Borrowed until the next step.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

  void bind(int at, std::string_view text);
  void bind(int at, Blob blob);
  void bind(int at, int64_t integer);
  void bind(int at, uint64_t number) { bind(at, static_cast<int64_t>(number)); }
  void bind(int at, std::nullptr_t);

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;  // NULL after a failure
};

template <class... Parameter>
Statement Connection::query(const char* sql, const Parameter&... parameters) {
  Statement s(*this, prepare(sql));
  int at = 0;
  (s.bind(++at, parameters), ...);
  return s;
}

template <class... Parameter>
void Connection::run(const char* sql, const Parameter&... parameters) {
  Statement s = query(sql, parameters...);
  while (s.step()) {
  }
}

// Rolls back when it goes without a commit.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // Fails with the connection's failure, if there was one; then nothing has changed.
  Result<> commit();

 private:
  void roll_back();
  Connection& connection_;
  bool open_ = true;
};

}  // namespace davit::storage_sqlite

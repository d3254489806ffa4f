// Wraps SQLite's C API in three small classes: a connection, one use of a prepared statement, and a
// transaction.
//
// Errors are sticky. After the first failure of a connection its statements return no rows and
// change nothing, and failed() is true. So code that processes rows need not check every step; the
// code that began the transaction checks once at its end. One thread at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <unordered_map>

#include "davit/host.hpp"
#include "davit/number.hpp"

namespace davit::storage_sqlite {

class Statement;

class Connection {
 public:
  // Another program may lock the file for a moment (a query, a tool).
  static constexpr int busy_timeout_ms = 5'000;

  // `flags` are SQLITE_OPEN_... Errors name `path`.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, int flags);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns the statement with its parameters. Each connection prepares a statement once. `sql`
  // must be a literal, because its address identifies it, and the statement must not be in use.
  // Texts are borrowed until the Statement is destroyed.
  template <class... Parameter>
  Statement query(const char* sql, const Parameter&... parameters);
  // Runs the statement to its end and ignores its rows.
  template <class... Parameter>
  void run(const char* sql, const Parameter&... parameters);
  // Runs several statements, and does not keep them.
  void script(const char* sql);

  bool failed() const { return error_.has_value(); }
  // True if the disk did not confirm a commit. The content of the file is unknown until it is
  // opened again.
  bool unsettled() const { return unsettled_; }
  // Returns the first failure and clears it, so that the connection can be used again. Only when
  // failed().
  Error take_error();
  // Makes an error that the caller found the failure of the connection.
  void fail(Error error);
  // Turns an error of SQLite into one with the file's name and advice.
  Error translate(int code) const;

  // While a Watch exists, long statements of its connection, and waits for a lock of another
  // program, end with CANCELLED or DEADLINE_EXCEEDED as the operation demands. SQLite asks it from
  // within the statement, so no statement of another call can be meant.
  class Watch {
   public:
    Watch(Connection& connection, const Op& op, const Host& host);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // Between two statements: fails the connection if the caller has given up.
    void look() { over(this); }

   private:
    static int over(void* self);
    static int busy(void* self, int times);
    Connection& connection_;
    const Op op_;
    const Host host_;
    std::chrono::steady_clock::time_point busy_since_{};
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

// Binds bytes as a parameter; a plain string_view binds text.
struct Blob {
  std::string_view bytes;
};

// One use of a prepared statement. The destructor resets the statement.
class Statement {
 public:
  Statement(Connection& connection, sqlite3_stmt* statement)
      : connection_(connection), statement_(statement) {}
  ~Statement();
  Statement(Statement&& o) noexcept
      : connection_(o.connection_), statement_(std::exchange(o.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;

  // Reads the next row. False at the end, and when the connection has failed.
  bool step();
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  // Versions, epochs and sequences are unsigned here and signed in SQLite, with the same bits.
  uint64_t number(int column) const { return static_cast<uint64_t>(integer(column)); }
  // These are borrowed until the next step.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

  void bind(int at, std::string_view text);
  void bind(int at, Blob blob);
  void bind(int at, int64_t integer);
  void bind(int at, uint64_t number) { bind(at, static_cast<int64_t>(number)); }
  template <class Purpose>
  void bind(int at, Number<Purpose> number) {
    bind(at, number.value());
  }
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

// Rolls back in the destructor unless it was committed.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // Fails with the connection's failure, if there is one. Then nothing has changed.
  Result<> commit();

 private:
  void roll_back();
  Connection& connection_;
  bool open_ = true;
};

}  // namespace davit::storage_sqlite

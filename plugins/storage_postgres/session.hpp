// One connection to the database, and the transaction that runs on it. One thread at a time, but
// cancel() and cut(), which any thread may call while another one waits for a statement.
//
// Every member that asks the server throws a Fault.
#pragma once

#include <memory>
#include <set>

#include "fault.hpp"
#include "pqxx_version.hpp"
#include "settings.hpp"

namespace davit::storage_postgres {

// A statement that is prepared once a connection. Its address identifies it, so it is a constant.
struct Statement {
  const char* name;
  const char* sql;
};

// A Statement whose texts are put together at the start of the process.
class BuiltStatement {
 public:
  BuiltStatement(std::string name, std::string sql)
      : name_(std::move(name)), sql_(std::move(sql)), statement_{name_.c_str(), sql_.c_str()} {}
  BuiltStatement(const BuiltStatement&) = delete;
  BuiltStatement& operator=(const BuiltStatement&) = delete;
  operator const Statement&() const { return statement_; }

 private:
  const std::string name_, sql_;
  const Statement statement_;
};

// How long the statements of a transaction may take.
struct Patience {
  std::chrono::milliseconds statement{0};  // 0: as long as they take
  std::chrono::milliseconds lock{0};
};

class Session {
 public:
  // Connects and sets the session up. `text` is PostgresSettings::connection_text. Tells nothing
  // about the schema, which may not exist.
  Session(const PostgresSettings& settings, const std::string& text);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Several statements in one message. Returns the result of the last one.
  pqxx::result script(const std::string& sql);
  pqxx::result ask(const Statement& statement, const Values& values = {});
  // Waits for sessions that keep tables from being written, such as one that makes an index.
  void wait_to_write(const std::string& tables);
  // Runs the statement, unless this connection has done so.
  void once(const Statement& statement);

  // Begins a transaction, and asks `query` within it in the same message.
  enum class Kind { read, write };
  pqxx::result begin(Kind kind, Patience patience, const std::string& query);
  // Nothing interrupts the commit itself: a synchronous standby that is away is waited for, and the
  // server would otherwise answer that it has committed without it. A Fault of the kind `lost` does
  // not say whether it was committed.
  void commit();
  // Ends the transaction, if there is one, without a trace. Does not throw.
  void roll_back() noexcept;

  // Whether the connection can be used again.
  bool usable() const { return !broken_; }
  void give_up_on() { broken_ = true; }

  // Asks the server to stop the statement that runs. It connects for that, and waits for it.
  void cancel() noexcept;
  // Ends the connection at once, so that a wait for the server ends.
  void cut() noexcept;

  pqxx::connection& connection() { return *connection_; }

  // What the connection is one to, as it was when the connection was made.
  struct Server {
    int version = 0;  // 150004
    bool replica = false;
    std::string encoding;
    std::string system_identifier, timeline;  // empty of a replica
    bool fsync = true;
  };
  const Server& server() const { return server_; }

 private:
  template <class Work>
  auto asked(Work work) -> decltype(work());
  void set_up(const PostgresSettings& settings);

  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::quiet_errorhandler> quiet_;  // libpqxx would write to stderr
  std::unique_ptr<pqxx::nontransaction> work_;
  std::set<const Statement*> prepared_;
  Server server_;
  int socket_ = -1;  // a second descriptor of the connection's: libpq closes its own at any time
  bool in_transaction_ = false;
  bool broken_ = false;
};

}  // namespace davit::storage_postgres

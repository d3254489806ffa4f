#include "session.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

std::string milliseconds_text(std::chrono::milliseconds time) {
  return std::to_string(time.count());
}

// Whatever the role or the database was configured to, the statements of this plugin mean the same.
// A commit that is acknowledged is on the disk: "off" would answer before (S4); what is stricter
// than "on" stays.
constexpr const char* set_up_sql =
    "SET client_encoding = 'UTF8'; SET client_min_messages = 'error'; SET bytea_output = 'hex'; "
    "SET standard_conforming_strings = on; SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; "
    "SET default_transaction_isolation = 'read committed'; SET default_transaction_deferrable = "
    "off; "
    "SET jit = off; SET xmloption = 'content'; "
    "SELECT set_config('synchronous_commit', 'on', false) WHERE "
    "current_setting('synchronous_commit') = 'off'; ";
// pg_control_system may have been taken from the role. Without it the rest has to prove continuity.
constexpr const char* server_sql =
    "SELECT current_setting('server_version_num'), pg_is_in_recovery(), "
    "current_setting('server_encoding'), current_setting('fsync') = 'on', "
    "CASE WHEN pg_is_in_recovery() THEN '' ELSE "
    "left(pg_walfile_name(pg_current_wal_lsn()), 8) END, "
    "has_function_privilege('pg_control_system()', 'EXECUTE')";

}  // namespace

template <class Work>
auto Session::asked(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const pqxx::sql_error& e) {
    Fault fault = fault_of(e.sqlstate(), e.what());
    if (fault.kind() == Fault::Kind::lost || !connection_->is_open()) broken_ = true;
    if (broken_) throw Fault(Fault::Kind::lost, fault.error());
    throw fault;
  } catch (const pqxx::failure& e) {  // broken_connection, too
    broken_ = true;
    const std::string words = first_line(e.what());
    throw Fault(
        Fault::Kind::lost,
        {Code::unavailable, "the connection was lost" + (words.empty() ? "" : " (" + words + ")")});
  }
}

Session::Session(const PostgresSettings& settings, const std::string& text) {
  try {
    connection_ = std::make_unique<pqxx::connection>(text);
  } catch (const pqxx::failure& e) {
    throw Fault(Fault::Kind::lost, {Code::unavailable, first_line(e.what())});
  }
  quiet_ = std::make_unique<pqxx::quiet_errorhandler>(*connection_);
  never_reconnect(*connection_);
  socket_ = fcntl(connection_->sock(), F_DUPFD_CLOEXEC, 0);
  try {
    set_up(settings);
  } catch (...) {
    close(socket_);
    throw;
  }
}

Session::~Session() {
  roll_back();
  if (socket_ >= 0) close(socket_);
}

void Session::set_up(const PostgresSettings& settings) {
  script(set_up_sql + ("SET search_path = " + quoted_name(settings.schema)) +
         "; SET idle_in_transaction_session_timeout = " +
         milliseconds_text(settings.idle_in_transaction_timeout) +
         "; SET lock_timeout = " + milliseconds_text(settings.lock_timeout));
  const pqxx::result rows = script(server_sql);
  const auto row = rows[0];
  server_.version = static_cast<int>(to_integer(row[0].c_str()));
  server_.replica = row[1].as<bool>();
  server_.encoding = row[2].c_str();
  server_.fsync = row[3].as<bool>();
  server_.timeline = row[4].c_str();
  if (row[5].as<bool>()) {
    server_.system_identifier =
        script("SELECT system_identifier FROM pg_control_system()")[0][0].c_str();
  }
}

pqxx::result Session::script(const std::string& sql) {
  return asked([&] {
    if (work_) return work_->exec(sql);
    pqxx::nontransaction now(*connection_);
    return now.exec(sql);
  });
}

pqxx::result Session::ask(const Statement& statement, const Values& values) {
  return asked([&] {
    if (prepared_.insert(&statement).second) connection_->prepare(statement.name, statement.sql);
    if (work_) return run_prepared(*work_, statement.name, values);
    pqxx::nontransaction now(*connection_);
    return run_prepared(now, statement.name, values);
  });
}

void Session::wait_to_write(const std::string& tables) {
  script("LOCK TABLE " + tables + " IN ROW EXCLUSIVE MODE");
}

void Session::once(const Statement& statement) {
  if (prepared_.contains(&statement)) return;
  script(statement.sql);
  prepared_.insert(&statement);
}

pqxx::result Session::begin(Kind kind, Patience patience, const std::string& query) {
  const std::string mode = kind == Kind::read ? "REPEATABLE READ READ ONLY" : "READ COMMITTED";
  asked([&] { work_ = std::make_unique<pqxx::nontransaction>(*connection_); });
  in_transaction_ = true;
  return script("BEGIN ISOLATION LEVEL " + mode +
                "; SET LOCAL statement_timeout = " + milliseconds_text(patience.statement) +
                "; SET LOCAL lock_timeout = " + milliseconds_text(patience.lock) + "; " + query);
}

void Session::commit() {
  script("SET LOCAL statement_timeout = 0; COMMIT");
  in_transaction_ = false;
  work_.reset();
}

void Session::roll_back() noexcept {
  if (in_transaction_ && !broken_) {
    try {
      script("ROLLBACK");
    } catch (const std::exception&) {
      broken_ = true;
    }
  }
  in_transaction_ = false;
  work_.reset();
}

void Session::cancel() noexcept {
  try {
    connection_->cancel_query();
  } catch (const std::exception&) {
    // The server cannot be reached. Whoever waits for it is cut off soon.
  }
}

void Session::cut() noexcept {
  ::shutdown(socket_, SHUT_RDWR);
}

}  // namespace davit::storage_postgres

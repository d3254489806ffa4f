#include "presence.hpp"

namespace davit::storage_postgres {
namespace {

// Of an advisory lock.
std::string lock_key(const std::string& name) {
  return "hashtextextended(" + quoted_text(name) + ", 0)";
}

std::string presence_key(const std::string& schema) {
  return lock_key("davit store " + schema);
}

// The rows of pg_locks (https://www.postgresql.org/docs/current/view-pg-locks.html) of a lock.
std::string holders_of(const std::string& key) {
  return "pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE "
         "datname = current_database()) AND granted AND objsubid = 1 AND ((classid::bigint << 32) "
         "| objid::bigint) = " +
         key;
}

bool got(Session& session, const std::string& function, const std::string& key) {
  return session.script("SELECT " + function + "(" + key + ")")[0][0].as<bool>();
}

}  // namespace

void share_store(Session& session, const std::string& schema) {
  if (got(session, "pg_try_advisory_lock_shared", presence_key(schema))) return;
  throw Fault({Code::unavailable,
               "`davit storage migrate` or `davit storage copy` has the store for itself: wait "
               "for it"});
}

Result<> take_store_alone(Session& session, const std::string& schema, Until until) {
  const std::string key = presence_key(schema);
  const bool transaction = until == Until::transaction_ends;
  if (got(session, transaction ? "pg_try_advisory_xact_lock" : "pg_try_advisory_lock", key))
    return {};
  const auto holders = session.script(
      "SELECT string_agg(concat_ws(', ', 'session ' || pid, nullif(application_name, ''), "
      "host(client_addr)), '; ' ORDER BY pid) FROM pg_stat_activity WHERE pid IN (SELECT pid "
      "FROM " +
      holders_of(key) + ")");
  const std::string who = holders[0][0].c_str();
  return Error{Code::unavailable, "a davit works with the store" +
                                      (who.empty() ? "" : " (" + who + ")") + ": stop it first"};
}

std::string wait_for_migration(const std::string& schema) {
  return "SELECT pg_advisory_xact_lock(" + lock_key("davit storage migrate " + schema) + ")";
}

void leave_store(Session& session) {
  session.script("SELECT pg_advisory_unlock_all()");
}

// A session may take a lock of its own several times, so what it has is looked for first.
bool leads(Session& session, const std::string& schema) {
  const std::string key = lock_key("davit leader " + schema);
  const auto rows = session.script("SELECT CASE WHEN EXISTS (SELECT FROM " + holders_of(key) +
                                   " AND pid = pg_backend_pid()) THEN true ELSE "
                                   "pg_try_advisory_lock(" +
                                   key + ") END");
  return rows[0][0].as<bool>();
}

}  // namespace davit::storage_postgres

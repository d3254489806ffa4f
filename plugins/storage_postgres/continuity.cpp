#include "continuity.hpp"

#include <random>

#include "schema_steps.hpp"
#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

constexpr Statement insert_link = {
    "insert_incarnation",
    "INSERT INTO incarnations (incarnation, first_version, first_status_version, reason) VALUES "
    "($1::numeric, $2::bigint, $3::bigint, $4)"};
constexpr Statement trim_chain = {
    "trim_incarnations",
    "DELETE FROM incarnations WHERE number NOT IN (SELECT number FROM incarnations ORDER BY number "
    "DESC LIMIT $1::bigint)"};
// The server is described anew, because the row's proofs are those of this transaction.
constexpr Statement update_store = {
    "update_store",
    "UPDATE store SET head = $1::bigint, status_head = $2::bigint, purged_through = $3::bigint, "
    "incarnation = $4::numeric, system_identifier = $5, timeline = $6, server_started_at = "
    "pg_postmaster_start_time(), written_by = txid_current()"};
constexpr Statement read_chain = {
    "read_incarnations",
    "SELECT incarnation, first_version, first_status_version FROM incarnations ORDER BY number"};

// xmin has the lower 32 bits of the transaction's number. $1 and $2: the system identifier and the
// timeline of the connection's server.
const std::string store_sql =
    "SELECT head, status_head, purged_through, incarnation, pg_is_in_recovery(), CASE "
    "WHEN incarnation = 0 THEN 'the store is new' "
    "WHEN xmin::text::bigint <> written_by & 4294967295 THEN 'the store was restored' "
    "WHEN system_identifier <> $1 THEN 'it is another server' "
    "WHEN timeline <> $2 THEN 'the server is on another timeline' "
    "WHEN server_started_at <> pg_postmaster_start_time() THEN 'the server was started' "
    "ELSE '' END, loading, (SELECT version FROM schema_steps ORDER BY version DESC LIMIT 1) "
    "FROM store";
// Planned once a connection. Planning it takes longer than the query itself.
const std::string prepare_read_store_sql = "PREPARE read_store (text, text) AS " + store_sql;
const std::string lock_store_sql = store_sql + " FOR UPDATE";
const Statement prepare_read_store = {"read_store", prepare_read_store_sql.c_str()};
const Statement lock_store_statement = {"lock_store", lock_store_sql.c_str()};

std::string ask_store(const Session::Server& server) {
  return "EXECUTE read_store(" + quoted_text(server.system_identifier) + ", " +
         quoted_text(server.timeline) + ")";
}

// As Schema::check at the start: the schema of a server that runs may be migrated by other means
// than `davit storage migrate`, or restored.
void judge_version(int version) {
  const std::string why = misfit("the schema", version, static_cast<int>(schema_steps().size()));
  if (!why.empty()) throw Fault({Code::failed_precondition, why});
}

StoreState state_of(const pqxx::result& rows) {
  if (rows.size() != 1) {
    throw Fault({Code::data_loss, "the table \"store\" has " + std::to_string(rows.size()) +
                                      " rows instead of one: restore the schema from a backup"});
  }
  const auto row = rows[0];
  if (row[4].as<bool>())
    throw Fault(Fault::Kind::lost, {Code::unavailable, "the server is a replica"});
  judge_version(static_cast<int>(to_integer(row[7].c_str())));
  StoreState out;
  out.head = {{Incarnation(to_number(row[3].c_str())), Version(to_number(row[0].c_str()))},
              Version(to_number(row[1].c_str())),
              Version(to_number(row[2].c_str()))};
  out.broken_by = row[5].c_str();
  out.unbroken = out.broken_by.empty();
  if (!row[6].is_null()) out.loading = row[6].c_str();
  return out;
}

// Two copies of one database must not draw the same number, so it does not come from the host's
// clock or randomness, which tests repeat.
Incarnation new_incarnation() {
  std::random_device device;
  const uint64_t drawn = uint64_t{device()} << 32 | device();
  return Incarnation(drawn == 0 ? 1 : drawn);
}

}  // namespace

StoreState begin_on_store(Session& session, Session::Kind kind, Patience patience) {
  session.once(prepare_read_store);
  return state_of(session.begin(
      kind, patience,
      "LOCK TABLE schema_steps IN ACCESS SHARE MODE; " + ask_store(session.server())));
}

StoreState read_store(Session& session, const std::string& first) {
  return state_of(session.script(first + "; " + ask_store(session.server())));
}

StoreState lock_store(Session& session) {
  const Session::Server& server = session.server();
  return state_of(session.ask(lock_store_statement, {server.system_identifier, server.timeline}));
}

bool same(const Head& a, const Head& b) {
  return a.head == b.head && a.status_head == b.status_head && a.purged_through == b.purged_through;
}

Head Seen::now() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

// Of another incarnation nothing can be compared, so it replaces what was seen.
void Seen::note(const Head& head) {
  const std::lock_guard lock(mutex_);
  if (head.head.incarnation != head_.head.incarnation) {
    head_ = head;
    return;
  }
  head_.head.version = std::max(head_.head.version, head.head.version);
  head_.status_head = std::max(head_.status_head, head.status_head);
}

std::string broken_by(const StoreState& state, const Head& seen) {
  if (!state.unbroken) return state.broken_by;
  const bool went_back =
      state.head.head.incarnation == seen.head.incarnation &&
      (state.head.head.version < seen.head.version || state.head.status_head < seen.status_head);
  return went_back ? "the store went back below what was seen of it" : "";
}

void append_link(Session& session, const storage::Chain::Link& link, const std::string& reason) {
  session.ask(insert_link, {to_string(link.incarnation), to_string(link.first_version),
                            to_string(link.first_status_version), reason});
}

void begin_incarnation(Session& session, StoreState& state, const std::string& reason) {
  const Incarnation incarnation = new_incarnation();
  append_link(session, {incarnation, state.head.head.version.next(), state.head.status_head.next()},
              reason);
  session.ask(trim_chain, {std::to_string(storage::Chain::links_max)});
  state.head.head.incarnation = incarnation;
  state.unbroken = true;
}

void write_store(Session& session, const Head& head) {
  session.ask(update_store, {to_string(head.head.version), to_string(head.status_head),
                             to_string(head.purged_through), to_string(head.head.incarnation),
                             session.server().system_identifier, session.server().timeline});
}

std::shared_ptr<const storage::Chain> Chains::of(Session& session, Incarnation incarnation) {
  {
    const std::lock_guard lock(mutex_);
    if (newest_ && newest_->current() == incarnation) return newest_;
  }
  storage::Chain chain;
  for (const auto& row : session.ask(read_chain)) {
    chain.append({Incarnation(to_number(row[0].c_str())), Version(to_number(row[1].c_str())),
                  Version(to_number(row[2].c_str()))});
  }
  auto shared = std::make_shared<const storage::Chain>(std::move(chain));
  const std::lock_guard lock(mutex_);
  newest_ = shared;
  return shared;
}

}  // namespace davit::storage_postgres

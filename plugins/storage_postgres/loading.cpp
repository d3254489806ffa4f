#include "loading.hpp"

#include "record_columns.hpp"
#include "statuses.hpp"

namespace davit::storage_postgres {
namespace {

constexpr const char* forget_all =
    "DELETE FROM records; DELETE FROM statuses; DELETE FROM children; DELETE FROM agents; DELETE "
    "FROM agent_kinds; DELETE FROM agent_issues; DELETE FROM requests; DELETE FROM batches; DELETE "
    "FROM incarnations";
constexpr const char* forget_what_has_no_record =
    "DELETE FROM statuses t WHERE NOT EXISTS (SELECT FROM records r WHERE r.kind = t.kind AND "
    "r.region = t.region AND r.id = t.id); DELETE FROM children t WHERE NOT EXISTS (SELECT FROM "
    "statuses s WHERE s.kind = t.kind AND s.region = t.region AND s.id = t.id); DELETE FROM "
    "incarnations";

// A later state replaces an earlier one. A deleted record that comes without a name keeps the one
// that it had, so that the name is known to be taken over.
constexpr Statement load_records = {
    "load_records",
    "INSERT INTO records (version, live, name_taken, committed_at, kind, region, id, ns, name, "
    "state, author, request_id, annotations, json, payload) SELECT w.version, w.live, "
    "w.name_taken, 'epoch'::timestamptz + w.committed_ms * interval '1 millisecond', w.kind, "
    "w.region, w.id, w.ns, w.name, w.state, w.author, w.request_id, w.annotations::json, "
    "as_jsonb(w.json), w.payload FROM unnest($1::bigint[], $2::boolean[], $3::boolean[], "
    "$4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], "
    "$11::text[], $12::text[], $13::text[], $14::bytea[], $15::bigint[]) AS w(version, live, "
    "name_taken, kind, region, id, ns, name, state, author, request_id, annotations, json, "
    "payload, committed_ms) ORDER BY w.version ON CONFLICT (kind, region, id) DO UPDATE SET "
    "version = excluded.version, live = excluded.live, name_taken = excluded.name_taken, "
    "committed_at = excluded.committed_at, ns = CASE WHEN excluded.name = '' THEN records.ns ELSE "
    "excluded.ns END, name = CASE WHEN excluded.name = '' THEN records.name ELSE excluded.name "
    "END, state = excluded.state, author = excluded.author, request_id = excluded.request_id, "
    "annotations = excluded.annotations, json = excluded.json, payload = excluded.payload WHERE "
    "records.version < excluded.version"};
constexpr Statement set_note = {"set_note", "UPDATE store SET loading = $1"};
// Database::count_write gathers them after a few writes, which are slow in a copy of many records.
// Without the right to it PostgreSQL only warns.
constexpr const char* gather_statistics = "ANALYZE records, statuses, children";
constexpr Statement end_note = {"end_note", "UPDATE store SET loading = NULL"};

StoreState locked_and_loading(Session& session) {
  StoreState state = lock_store(session);
  if (!state.loading)
    throw Fault({Code::failed_precondition, "the store is not loading: begin a copy first"});
  return state;
}

Error not_empty(Session& session, const Head& head) {
  const std::string count = session.script("SELECT count(*) FROM records")[0][0].c_str();
  return {Code::already_exists, "the store is not empty: it has " + count +
                                    (count == "1" ? " record" : " records") +
                                    ", and its newest version is " + to_string(head.head.version) +
                                    "; name another schema (key schema) or database"};
}

}  // namespace

std::string begin_loading(Session& session, storage::LoadBegin how) {
  StoreState state = lock_store(session);
  if (!state.loading && (state.head.head.version || state.head.status_head))
    throw Fault(not_empty(session, state.head));
  if (how.look || (state.loading && !how.anew)) return state.loading.value_or("");
  session.script(forget_all);
  state.head = {};
  begin_incarnation(session, state, "a copy is being loaded");
  write_store(session, state.head);
  session.ask(set_note, {""});
  return {};
}

void load(Session& session, const storage::Load& what) {
  Head head = locked_and_loading(session).head;
  std::map<Key, const Record*> newest;
  for (const Record& r : what.records) newest[r.key] = &r;
  RecordColumns columns;
  for (const auto& [key, r] : newest) {
    columns.add(*r,
                {r->version, r->live, !r->live && r->name.empty(), r->ns, r->name, r->request_id});
    head.head.version = std::max(head.head.version, r->version);
  }
  if (!columns.empty()) session.ask(load_records, columns.take());
  StatusBatch(what.statuses, 0).load(session);
  for (const Status& s : what.statuses)
    head.status_head = std::max(head.status_head, s.status_version);
  write_store(session, head);
  session.ask(set_note, {what.note});
}

// The versions that an incarnation may give begin behind the end of the one before it.
void finish_loading(Session& session, const storage::LoadEnd& end) {
  StoreState state = locked_and_loading(session);
  if (end.history.empty())
    throw Fault({Code::invalid_argument, "a history has at least one incarnation"});
  session.script(forget_what_has_no_record);
  const size_t kept = std::min(end.history.size(), storage::Chain::links_max - 1);
  Version first = 1;
  for (size_t i = end.history.size() - kept; i < end.history.size(); ++i) {
    append_link(session, {end.history[i].incarnation, first, 1}, "it was copied");
    first = end.history[i].version.next();
  }
  state.head.head.version = end.history.back().version;
  state.head.status_head = end.status_head;
  begin_incarnation(session, state, "the store was copied");
  write_store(session, state.head);
  session.script(gather_statistics);
  session.ask(end_note);
}

}  // namespace davit::storage_postgres

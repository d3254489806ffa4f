#include "commit.hpp"

#include <random>

#include "record_columns.hpp"
#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

// Request ids are kept long enough for any retry: for ten minutes and for 100,000 versions,
// whichever lasts longer.
constexpr uint64_t requests_kept_versions = 100'000;

const std::string stored_columns =
    "SELECT r.kind, r.region, r.id, r.version, r.live, r.name_taken, r.ns, r.name FROM ";
// $1 to $3: kinds, regions and ids. $1, $2, $4, $5: kinds, regions, namespaces and names.
const std::string given_keys = "unnest($1::text[], $2::text[], $3::text[]) AS k(kind, region, id)";
const std::string stored_by_key_sql =
    stored_columns + given_keys + " JOIN records r USING (kind, region, id)";
const std::string stored_by_name_sql =
    stored_columns +
    "unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n(kind, region, ns, name) JOIN "
    "records r USING (kind, region, name, ns)";
// In one statement, so that all are locked in one order: two that wait never wait for each other.
const std::string lock_records_sql =
    "WITH wanted AS (SELECT k.kind, k.region, k.id FROM " + given_keys +
    " UNION SELECT r.kind, r.region, r.id FROM unnest($1::text[], $2::text[], $4::text[], "
    "$5::text[]) AS n(kind, region, ns, name) JOIN records r USING (kind, region, name, ns) WHERE "
    "n.name <> '') SELECT 1 FROM records r JOIN wanted w USING (kind, region, id) ORDER BY r.kind, "
    "r.region, r.id FOR UPDATE OF r";
const Statement stored_by_key = {"stored_by_key", stored_by_key_sql.c_str()};
const Statement stored_by_name = {"stored_by_name", stored_by_name_sql.c_str()};
const Statement lock_records = {"lock_records", lock_records_sql.c_str()};

constexpr Statement find_requests = {
    "find_requests",
    "SELECT r.request_id, r.first_version FROM unnest($1::text[], $2::text[]) AS w(low, high) JOIN "
    "requests r ON r.request_id >= w.low AND r.request_id < w.high"};

constexpr Statement upsert_records = {
    "upsert_records",
    "INSERT INTO records (version, live, name_taken, committed_at, kind, region, id, ns, name, "
    "state, author, request_id, annotations, json, payload) SELECT w.version, w.live, "
    "w.name_taken, statement_timestamp(), w.kind, w.region, w.id, w.ns, w.name, w.state, w.author, "
    "w.request_id, w.annotations::json, as_jsonb(w.json), w.payload FROM unnest($1::bigint[], "
    "$2::boolean[], $3::boolean[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], "
    "$9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bytea[]) AS w(version, "
    "live, name_taken, kind, region, id, ns, name, state, author, request_id, annotations, json, "
    "payload) ORDER BY w.version ON CONFLICT (kind, region, id) DO UPDATE SET version = "
    "excluded.version, live = excluded.live, name_taken = excluded.name_taken, committed_at = "
    "excluded.committed_at, ns = excluded.ns, name = excluded.name, state = excluded.state, author "
    "= excluded.author, request_id = excluded.request_id, annotations = excluded.annotations, json "
    "= excluded.json, payload = excluded.payload"};

constexpr Statement renumber_records = {
    "renumber_records",
    "UPDATE records r SET version = w.version, name_taken = w.name_taken, committed_at = "
    "statement_timestamp() FROM unnest($1::bigint[], $2::boolean[], $3::text[], $4::text[], "
    "$5::text[]) AS w(version, name_taken, kind, region, id) WHERE r.kind = w.kind AND r.region = "
    "w.region AND r.id = w.id"};

constexpr Statement insert_requests = {
    "insert_requests",
    "WITH own AS (INSERT INTO batches (batch, committed_at) VALUES ($1, statement_timestamp())) "
    "INSERT "
    "INTO requests (request_id, first_version, committed_at) SELECT w.id, w.version, "
    "statement_timestamp() FROM unnest($2::text[], $3::bigint[]) AS w(id, version)"};

constexpr Statement find_batch = {"find_batch", "SELECT 1 FROM batches WHERE batch = $1"};

// A bounded number of rows, because the row `store` is held meanwhile.
constexpr Statement delete_requests = {
    "delete_requests",
    "DELETE FROM requests WHERE request_id IN (SELECT request_id FROM requests WHERE first_version "
    "< $1::bigint AND committed_at < now() - interval '10 minutes' ORDER BY first_version LIMIT "
    "2000)"};
constexpr Statement delete_batches = {
    "delete_batches",
    "DELETE FROM batches WHERE batch IN (SELECT batch FROM batches WHERE committed_at < now() - "
    "interval '10 minutes' ORDER BY committed_at LIMIT 2000)"};

}  // namespace

std::string new_batch_id() {
  std::random_device device;
  std::string out;
  for (int i = 0; i < 4; ++i) out += (i == 0 ? "" : "-") + std::to_string(device());
  return out;
}

CommitBatch::CommitBatch(const std::vector<Group>& groups, std::string batch)
    : groups_(groups), batch_(std::move(batch)) {}

void CommitBatch::wait(Session& session) const {
  session.wait_to_write("records, requests, batches, intents");
  ArrayText kinds, regions, ids, spaces, names;
  for (const Group& group : groups_) {
    for (const Mutation& m : group.mutations) {
      const Record& r = m.record;
      kinds.add(r.key.kind);
      regions.add(r.key.region);
      ids.add(r.key.id);
      spaces.add(r.ns);
      names.add(r.name);
    }
  }
  session.ask(lock_records,
              {kinds.take(), regions.take(), ids.take(), spaces.take(), names.take()});
}

void CommitBatch::keep(const pqxx::result& rows) {
  for (const auto& row : rows) {
    concerned_.records[{row[0].c_str(), row[1].c_str(), row[2].c_str()}] = {
        Version(to_number(row[3].c_str())), row[4].as<bool>(), row[5].as<bool>(), row[6].c_str(),
        row[7].c_str()};
  }
}

// The rows of the records, and of others that have a name which one of them is to get.
void CommitBatch::read_records(Session& session) {
  ArrayText kinds, regions, ids;
  for (const Group& group : groups_) {
    for (const Mutation& m : group.mutations) {
      kinds.add(m.record.key.kind);
      regions.add(m.record.key.region);
      ids.add(m.record.key.id);
    }
  }
  keep(session.ask(stored_by_key, {kinds.take(), regions.take(), ids.take()}));
  ArrayText named_kinds, named_regions, spaces, names;
  bool any = false;
  for (const Group& group : groups_) {
    for (const Mutation& m : group.mutations) {
      const Record& r = m.record;
      if (r.name.empty() || has_name(r)) continue;
      any = true;
      named_kinds.add(r.key.kind);
      named_regions.add(r.key.region);
      spaces.add(r.ns);
      names.add(r.name);
    }
  }
  if (any) {
    keep(session.ask(stored_by_name,
                     {named_kinds.take(), named_regions.take(), spaces.take(), names.take()}));
  }
}

// A live record that has the name already: of every other record with it the row says so.
bool CommitBatch::has_name(const Record& r) const {
  const auto found = concerned_.records.find(r.key);
  if (found == concerned_.records.end()) return false;
  const StoredRecord& row = found->second;
  return row.live && row.ns == r.ns && row.name == r.name;
}

void CommitBatch::read_requests(Session& session) {
  ArrayText low, high;
  bool any = false;
  for (const Group& group : groups_) {
    const std::string& id = group.request_id;
    if (id.empty()) continue;
    any = true;
    // Every id that differs in its fingerprint only, or the id itself: nothing is between it and
    // the same with the smallest character.
    const size_t newline = id.rfind('\n');
    low.add(newline == std::string::npos ? id : id.substr(0, newline) + '\n');
    high.add(newline == std::string::npos ? id + '\x01' : id.substr(0, newline) + '\v');
  }
  if (!any) return;
  for (const auto& row : session.ask(find_requests, {low.take(), high.take()}))
    concerned_.requests[row[0].c_str()] = Version(to_number(row[1].c_str()));
}

std::vector<GroupResult> CommitBatch::carry_out(Session& session, const storage::Chain& chain,
                                                Head& head) {
  concerned_ = {};
  read_records(session);
  read_requests(session);
  concerned_.intents = lock_intents(session, groups_);
  CommitPlan plan(std::move(concerned_), chain, head.head);
  std::vector<GroupResult> out;
  out.reserve(groups_.size());
  for (const Group& group : groups_) out.push_back(plan.apply(group));
  records_ = plan.head() - head.head.version;
  if (!plan.changes()) return out;
  const auto writes = plan.writes();
  renumber(session, writes);
  write_records(session, writes);
  write_requests(session, plan);
  write_outcomes(session, head.head.incarnation, plan.carried_out());
  head.head.version = plan.head();
  return out;
}

void CommitBatch::renumber(Session& session, const std::vector<CommitPlan::Write>& writes) const {
  ArrayText versions, taken, kinds, regions, ids;
  bool any = false;
  for (const auto& w : writes) {
    if (w.record != nullptr) continue;
    any = true;
    versions.add_number(w.row.version);
    taken.add_bool(w.row.name_taken);
    kinds.add(w.key.kind);
    regions.add(w.key.region);
    ids.add(w.key.id);
  }
  if (any)
    session.ask(renumber_records,
                {versions.take(), taken.take(), kinds.take(), regions.take(), ids.take()});
}

void CommitBatch::write_records(Session& session,
                                const std::vector<CommitPlan::Write>& writes) const {
  RecordColumns columns;
  for (const auto& w : writes) {
    if (w.record == nullptr) continue;
    columns.add(*w.record,
                {w.row.version, w.row.live, w.row.name_taken, w.row.ns, w.row.name, w.request_id});
  }
  if (columns.empty()) return;
  Values values = columns.take();
  values.pop_back();  // the server's clock says when they were committed
  session.ask(upsert_records, values);
}

void CommitBatch::write_requests(Session& session, const CommitPlan& plan) const {
  ArrayText ids, versions;
  for (const auto& [id, version] : plan.new_requests()) {
    ids.add(id);
    versions.add_number(version);
  }
  session.ask(insert_requests, {batch_, ids.take(), versions.take()});
}

bool was_kept(Session& session, const std::string& batch) {
  return !session.ask(find_batch, {batch}).empty();
}

void forget_requests(Session& session, Version head) {
  if (head.value() > requests_kept_versions)
    session.ask(delete_requests, {to_string(head - requests_kept_versions)});
  session.ask(delete_batches);
}

}  // namespace davit::storage_postgres

#include "statuses.hpp"

#include <algorithm>

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

// $1 to $3: kinds, regions and ids.
const std::string status_keys = "unnest($1::text[], $2::text[], $3::text[]) AS k(kind, region, id)";
const std::string of_status = "kind = k.kind AND t.region = k.region AND t.id = k.id";

const std::string find_statuses_sql =
    "SELECT t.kind, t.region, t.id, t.epoch, t.sequence FROM statuses t JOIN (SELECT DISTINCT "
    "kind, region, id FROM " +
    status_keys + ") AS k ON t." + of_status;
const std::string lock_statuses_sql =
    find_statuses_sql + " ORDER BY t.kind, t.region, t.id FOR UPDATE OF t";
const Statement find_statuses = {"find_statuses", find_statuses_sql.c_str()};
const Statement lock_statuses = {"lock_statuses", lock_statuses_sql.c_str()};

const std::string record_versions_sql = "SELECT t.kind, t.region, t.id, t.version FROM " +
                                        status_keys + " JOIN records t ON t." + of_status;
const Statement record_versions = {"record_versions", record_versions_sql.c_str()};

const std::string status_versions_sql = "SELECT t.kind, t.region, t.id, t.status_version FROM " +
                                        status_keys + " JOIN statuses t ON t." + of_status;
const Statement status_versions = {"status_versions", status_versions_sql.c_str()};

constexpr Statement upsert_statuses = {
    "upsert_statuses",
    "INSERT INTO statuses (kind, region, id, status_version, gone, observed_version, health, "
    "desired, updated, ready, stale, message, parked, epoch, sequence, reported_at_unix_ms, "
    "detail) "
    "SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[], "
    "$6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], "
    "$12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::text[]) ON "
    "CONFLICT "
    "(kind, region, id) DO UPDATE SET status_version = excluded.status_version, gone = "
    "excluded.gone, observed_version = excluded.observed_version, health = excluded.health, "
    "desired "
    "= excluded.desired, updated = excluded.updated, ready = excluded.ready, stale = "
    "excluded.stale, message = excluded.message, parked = excluded.parked, epoch = excluded.epoch, "
    "sequence = excluded.sequence, reported_at_unix_ms = excluded.reported_at_unix_ms, detail = "
    "excluded.detail"};

const std::string read_children_sql =
    "SELECT t.kind, t.region, t.id, t.name, t.address, t.status, t.cpu_millicores, t.memory_mib "
    "FROM " +
    status_keys + " JOIN children t ON t." + of_status;
const Statement read_children = {"read_children", read_children_sql.c_str()};
constexpr Statement delete_children = {
    "delete_children",
    "DELETE FROM children t USING unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS "
    "k(kind, "
    "region, id, name) WHERE t.kind = k.kind AND t.region = k.region AND t.id = k.id AND t.name = "
    "k.name"};
constexpr Statement upsert_children = {
    "upsert_children",
    "INSERT INTO children (kind, region, id, name, address, status, cpu_millicores, memory_mib) "
    "SELECT "
    "* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], "
    "$7::bigint[], $8::bigint[]) ON CONFLICT (kind, region, id, name) DO UPDATE SET address = "
    "excluded.address, status = excluded.status, cpu_millicores = excluded.cpu_millicores, "
    "memory_mib "
    "= excluded.memory_mib"};

// $1: above this version. $2: one more than the limit. $3: the limit of bytes. The index of the
// children has them in the order of their names.
std::string status_page(const std::string& scope) {
  return "SELECT q.status_version, q.kind, q.region, q.id, q.gone, q.observed_version, q.health, "
         "q.desired, q.updated, q.ready, q.stale, q.message, q.parked, q.epoch, q.sequence, "
         "q.reported_at_unix_ms, q.detail, CASE WHEN r.name_taken THEN '' ELSE r.ns END, CASE WHEN "
         "r.name_taken THEN '' ELSE r.name END, q.names, q.addresses, q.states, q.processor, "
         "q.memory, q.found FROM (SELECT p.*, c.*, count(*) OVER () AS found, row_number() OVER "
         "in_order AS place, sum(octet_length(message) + octet_length(parked) + "
         "octet_length(detail) + c.bytes) OVER in_order AS bytes_so_far FROM (SELECT * FROM "
         "statuses WHERE status_version > $1::bigint" +
         scope +
         " ORDER BY status_version LIMIT $2::bigint) AS p CROSS JOIN LATERAL (SELECT "
         "coalesce(sum(octet_length(o.name) + octet_length(o.address) + octet_length(o.status)), "
         "0) AS bytes, array_agg(o.name) AS names, array_agg(o.address) AS addresses, "
         "array_agg(o.status) AS states, array_agg(o.cpu_millicores) AS processor, "
         "array_agg(o.memory_mib) AS memory FROM (SELECT * FROM children t WHERE t.kind = p.kind "
         "AND t.region = p.region AND t.id = p.id ORDER BY t.name) AS o) AS c WINDOW in_order AS "
         "(ORDER BY status_version)) AS q JOIN records r USING (kind, region, id) WHERE place = 1 "
         "OR (place < $2::bigint AND bytes_so_far <= $3::bigint) ORDER BY q.status_version";
}
const PageStatements status_pages("statuses", 3, status_page);
constexpr int names_column = 19;  // the first of the five of the children

// An epoch is a time. An epoch that is years ahead is wrong, and would make every later status look
// old.
bool is_possible_epoch(Epoch epoch, int64_t now_unix_ms) {
  constexpr int64_t ahead_max_ms = int64_t{10} * 365 * 24 * 3600 * 1000;
  constexpr int64_t surely_ms = 2'000'000'000'000;  // the year 2033; this clock may not be set yet
  return epoch.value() <= static_cast<uint64_t>(std::max(now_unix_ms + ahead_max_ms, surely_ms));
}

struct KeyArrays {
  ArrayText kinds, regions, ids;
  void add(const Key& key) {
    kinds.add(key.kind);
    regions.add(key.region);
    ids.add(key.id);
  }
  Values take() { return {kinds.take(), regions.take(), ids.take()}; }
};

struct ChildArrays {
  KeyArrays of;
  ArrayText names, addresses, states, cpu, memory;
  size_t count = 0;
  void add(const Key& key, const Child& child) {
    of.add(key);
    names.add(child.name);
    addresses.add(child.address);
    states.add(child.status);
    cpu.add_number(child.cpu_millicores);
    memory.add_number(child.memory_mib);
    ++count;
  }
  Values take_names() {
    Values out = of.take();
    out.emplace_back(names.take());
    return out;
  }
  Values take_all() {
    Values out = take_names();
    for (ArrayText* column : {&addresses, &states, &cpu, &memory}) out.emplace_back(column->take());
    return out;
  }
};

Key key_of(const pqxx::row& row) {
  return {row[0].c_str(), row[1].c_str(), row[2].c_str()};
}

}  // namespace

Values StatusBatch::keys() const {
  KeyArrays all;
  for (const Status& s : statuses_) all.add(s.key);
  return all.take();
}

void StatusBatch::wait(Session& session) const {
  session.wait_to_write("statuses, children");
  session.ask(lock_statuses, keys());
}

void StatusBatch::read(Session& session) {
  stored_.clear();
  for (const auto& row : session.ask(find_statuses, keys()))
    stored_[key_of(row)] = {0, true, Epoch(to_number(row[3].c_str())), to_number(row[4].c_str())};
  for (const auto& row : session.ask(record_versions, keys()))
    stored_[key_of(row)].record_version = Version(to_number(row[3].c_str()));
}

// False for a status of a version that the record has not reached, or that was read in another
// history: this store does not have that state. "Gone" may be reported for any record that exists.
bool StatusBatch::wanted(const Status& s, const Stored& stored, const storage::Chain& chain,
                         Version head) const {
  if (!stored.record_version) return false;
  if (!s.gone) {
    if (s.observed_version > stored.record_version) return false;
    const Cursor read_at{s.observed_incarnation, s.observed_version};
    if (read_at.incarnation && !chain.accept(read_at, head).ok()) return false;
  }
  const bool newer = std::pair(s.epoch, s.sequence) > std::pair(stored.epoch, stored.sequence);
  return !stored.has_status || newer || !is_possible_epoch(stored.epoch, now_);
}

size_t StatusBatch::carry_out(Session& session, const storage::Chain& chain, Head& head) {
  read(session);
  std::map<Key, std::pair<const Status*, Version>> chosen;  // the newest of each record
  Version version = head.status_head;
  for (const Status& s : statuses_) {
    const auto found = stored_.find(s.key);
    if (found == stored_.end() || !wanted(s, found->second, chain, head.head.version)) continue;
    found->second = {found->second.record_version, true, s.epoch, s.sequence};
    chosen[s.key] = {&s, ++version};
  }
  const size_t stored = version - head.status_head;
  head.status_head = version;
  Lines lines;
  for (const auto& [key, line] : chosen) lines.push_back(line);
  if (lines.empty()) return 0;
  write_statuses(session, lines);
  write_children(session, lines);
  return stored;
}

void StatusBatch::load(Session& session) {
  std::map<Key, Version> stored;
  for (const auto& row : session.ask(status_versions, keys()))
    stored[key_of(row)] = Version(to_number(row[3].c_str()));
  std::map<Key, const Status*> newest;
  for (const Status& s : statuses_) {
    Version& before = stored[s.key];
    if (s.status_version <= before) continue;
    before = s.status_version;
    newest[s.key] = &s;
  }
  Lines lines;
  for (const auto& [key, s] : newest) lines.emplace_back(s, s->status_version);
  if (lines.empty()) return;
  write_statuses(session, lines);
  write_children(session, lines);
}

void StatusBatch::write_statuses(Session& session, const Lines& lines) const {
  KeyArrays of;
  ArrayText versions, gone, observed, health, desired, updated, ready, stale, messages, parked,
      epochs, sequences, reported, details;
  for (const auto& [s, version] : lines) {
    of.add(s->key);
    versions.add_number(version);
    gone.add_bool(s->gone);
    observed.add_number(s->observed_version);
    health.add(s->health);
    desired.add_number(s->desired);
    updated.add_number(s->updated);
    ready.add_number(s->ready);
    stale.add_number(s->stale);
    messages.add(s->message);
    parked.add(s->parked);
    epochs.add_number(s->epoch);
    sequences.add_number(s->sequence);
    reported.add_number(s->reported_at_unix_ms != 0 ? s->reported_at_unix_ms : now_);
    details.add(s->detail);
  }
  Values values = of.take();
  for (ArrayText* column : {&versions, &gone, &observed, &health, &desired, &updated, &ready,
                            &stale, &messages, &parked, &epochs, &sequences, &reported, &details})
    values.emplace_back(column->take());
  session.ask(upsert_statuses, values);
}

// Most reports repeat most children, so only the differences are written.
void StatusBatch::write_children(Session& session, const Lines& lines) {
  using Children = std::map<std::string, Child>;
  std::map<Key, Children> before;
  KeyArrays all;
  for (const auto& [s, version] : lines) all.add(s->key);
  for (const auto& row : session.ask(read_children, all.take())) {
    before[key_of(row)][row[3].c_str()] = {row[3].c_str(), row[4].c_str(), row[5].c_str(),
                                           to_integer(row[6].c_str()), to_integer(row[7].c_str())};
  }
  ChildArrays removed, changed;
  for (const auto& [s, version] : lines) {
    Children wanted;
    for (const Child& child : s->gone ? std::vector<Child>() : s->children)
      wanted[child.name] = child;
    Children& there = before[s->key];
    for (const auto& [name, child] : there) {
      if (!wanted.contains(name)) removed.add(s->key, child);
    }
    for (const auto& [name, child] : wanted) {
      const auto old = there.find(name);
      if (old == there.end() || old->second != child) changed.add(s->key, child);
    }
  }
  if (removed.count != 0) session.ask(delete_children, removed.take_names());
  if (changed.count != 0) session.ask(upsert_children, changed.take_all());
}

Rows read_status_page(Session& session, const StatusRead& q) {
  return status_pages.read(session,
                           {bounded_number(q.cursor.version), std::to_string(uint64_t{q.limit} + 1),
                            bounded_number(q.bytes_max)},
                           q.scope);
}

void fill_children(const pqxx::row& row, std::vector<Child>& children) {
  children.clear();
  if (row[names_column].is_null()) return;
  const auto column = [&](int n) { return array_elements(row[names_column + n].c_str()); };
  auto names = column(0), addresses = column(1), states = column(2);
  const auto processor = column(3), memory = column(4);
  for (size_t n = 0; n < names.size(); ++n) {
    children.push_back({std::move(names[n]), std::move(addresses[n]), std::move(states[n]),
                        to_integer(processor[n]), to_integer(memory[n])});
  }
}

void fill_status(const pqxx::row& row, Status& s) {
  s.status_version = Version(to_number(row[0].c_str()));
  s.key = {row[1].c_str(), row[2].c_str(), row[3].c_str()};
  s.gone = *row[4].c_str() == 't';
  s.observed_version = Version(to_number(row[5].c_str()));
  s.health = row[6].c_str();
  s.desired = to_integer(row[7].c_str());
  s.updated = to_integer(row[8].c_str());
  s.ready = to_integer(row[9].c_str());
  s.stale = to_integer(row[10].c_str());
  s.message = row[11].c_str();
  s.parked = row[12].c_str();
  s.epoch = Epoch(to_number(row[13].c_str()));
  s.sequence = to_number(row[14].c_str());
  s.reported_at_unix_ms = to_integer(row[15].c_str());
  s.detail = row[16].c_str();
  s.ns = row[17].c_str();  // those of the record, whatever the agent reported
  s.name = row[18].c_str();
  fill_children(row, s.children);
}

}  // namespace davit::storage_postgres

#include "statuses.hpp"

#include <algorithm>
#include <map>

#include "records.hpp"

namespace davit::storage_sqlite {
namespace {

using V = std::string_view;

// False for a status of a version that the record has not reached, or that was read in another
// history: this store does not have that state. "Gone" may be reported for any record that exists.
bool speaks_of_a_record(Connection& c, const storage::Chain& chain, Version head, const Status& s) {
  Statement record = c.query("SELECT version FROM records WHERE kind = ? AND region = ? AND id = ?",
                             V(s.key.kind), V(s.key.region), V(s.key.id));
  if (!record.step()) return false;
  if (s.gone) return true;
  if (s.observed_version > Version(record.number(0))) return false;
  const Cursor read_at{s.observed_incarnation, s.observed_version};
  return !read_at.incarnation || chain.accept(read_at, head).ok();
}

void read_children(Connection& c, const Key& key, std::vector<Child>& out) {
  out.clear();
  Statement s = c.query(
      "SELECT name, address, status, cpu_millicores, memory_mib FROM children WHERE kind = ? AND "
      "region = ? AND id = ? "
      "ORDER BY name",
      V(key.kind), V(key.region), V(key.id));
  while (s.step()) {
    out.push_back({std::string(s.text(0)), std::string(s.text(1)), std::string(s.text(2)),
                   s.integer(3), s.integer(4)});
  }
}

// Most reports repeat most children, so only the differences are written.
void store_children(Connection& c, const Status& status) {
  std::map<V, const Child*> wanted;
  if (!status.gone) {
    for (const auto& child : status.children) wanted[child.name] = &child;
  }
  std::vector<Child> before;
  read_children(c, status.key, before);
  const V kind = status.key.kind, region = status.key.region, id = status.key.id;
  for (const auto& child : before) {
    const auto at = wanted.find(child.name);
    if (at == wanted.end()) {
      c.run("DELETE FROM children WHERE kind = ? AND region = ? AND id = ? AND name = ?", kind,
            region, id, V(child.name));
    } else if (*at->second == child) {
      wanted.erase(at);
    }
  }
  for (const auto& [name, child] : wanted) {
    c.run(
        "INSERT OR REPLACE INTO children (kind, region, id, name, address, status, cpu_millicores, "
        "memory_mib) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        kind, region, id, name, V(child->address), V(child->status), child->cpu_millicores,
        child->memory_mib);
  }
}

// An epoch is a time. An epoch that is years ahead is wrong, and would make every later status look
// old.
bool is_possible_epoch(Epoch epoch, int64_t now_unix_ms) {
  constexpr int64_t ahead_max_ms = int64_t{10} * 365 * 24 * 3600 * 1000;
  constexpr int64_t surely_ms = 2'000'000'000'000;  // the year 2033; this clock may not be set yet
  return epoch <= Epoch(static_cast<uint64_t>(std::max(now_unix_ms + ahead_max_ms, surely_ms)));
}

// Takes the place of the status of version `before` (0: there is none).
void write_status(Connection& c, const Status& s, Version before, Version version,
                  int64_t reported_at) {
  if (before) c.run("DELETE FROM statuses WHERE status_version = ?", before);
  store_children(c, s);
  c.run(
      "INSERT INTO statuses (status_version, kind, region, id, gone, observed_version, health, "
      "desired, updated, "
      "ready, stale, message, parked, epoch, sequence, reported_at_unix_ms, detail) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      version, V(s.key.kind), V(s.key.region), V(s.key.id), int64_t{s.gone}, s.observed_version,
      V(s.health), s.desired, s.updated, s.ready, s.stale, V(s.message), V(s.parked), s.epoch,
      s.sequence, reported_at, V(s.detail));
}

// True if the status is newer than the stored one and was written as `version`.
bool store(Connection& c, const Status& s, Version version, int64_t now) {
  Version before;
  {
    Statement stored = c.query(
        "SELECT status_version, epoch, sequence FROM statuses WHERE kind = ? AND region = ? AND id "
        "= ?",
        V(s.key.kind), V(s.key.region), V(s.key.id));
    if (stored.step()) {
      const Epoch epoch(stored.number(1));
      const bool newer = std::pair(s.epoch, s.sequence) > std::pair(epoch, stored.number(2));
      if (!newer && is_possible_epoch(epoch, now)) return false;
      before = Version(stored.number(0));
    }
  }
  write_status(c, s, before, version, s.reported_at_unix_ms != 0 ? s.reported_at_unix_ms : now);
  return true;
}

}  // namespace

size_t store_statuses(Connection& connection, const storage::Chain& chain,
                      const std::vector<Status>& statuses, int64_t now_unix_ms) {
  const Head before = read_head(connection, chain);
  Version head = before.status_head;
  for (const auto& s : statuses) {
    if (!speaks_of_a_record(connection, chain, before.head.version, s)) continue;
    if (store(connection, s, head + 1, now_unix_ms)) ++head;
  }
  if (head != before.status_head) connection.run("UPDATE store SET status_head = ?", head);
  return head - before.status_head;
}

void load_status(Connection& connection, const Status& s) {
  Version before;
  {
    Statement stored = connection.query(
        "SELECT status_version FROM statuses WHERE kind = ? AND region = ? AND id = ?",
        V(s.key.kind), V(s.key.region), V(s.key.id));
    if (stored.step()) before = Version(stored.number(0));
  }
  if (before < s.status_version)
    write_status(connection, s, before, s.status_version, s.reported_at_unix_ms);
}

StatusPage read_statuses(Connection& connection, const storage::Chain& chain, const StatusRead& q,
                         const storage::VisitStatus& visit) {
  if (q.limit == 0)
    connection.fail({Code::invalid_argument, "a page has at least one status", "limit"});
  StatusPage page;
  page.head = read_head(connection, chain);
  const auto in_chain = chain.accept_status(q.cursor, page.head.status_head);
  if (!in_chain.ok()) connection.fail(in_chain.error());
  Statement row = connection.query(
      "SELECT status_version, kind, region, id, gone, observed_version, health, desired, updated, "
      "ready, stale, message, "
      "parked, epoch, sequence, reported_at_unix_ms, detail, ns, name FROM statuses JOIN records "
      "USING (kind, region, id) "
      "WHERE status_version > ?1 AND (?2 = '' OR kind = ?2) AND (?3 = '' OR region = ?3) ORDER BY "
      "status_version LIMIT ?4",
      q.cursor.version, V(q.scope.kind), V(q.scope.region), int64_t{q.limit} + 1);
  Status s;
  page.next = {page.head.head.incarnation, q.cursor.version};
  uint64_t bytes = 0;
  for (uint32_t count = 0; row.step(); ++count) {
    page.more = count == q.limit;
    if (page.more) return page;
    s.status_version = Version(row.number(0));
    s.key.kind.assign(row.text(1));
    s.key.region.assign(row.text(2));
    s.key.id.assign(row.text(3));
    s.gone = row.integer(4) != 0;
    s.observed_version = Version(row.number(5));
    s.health.assign(row.text(6));
    s.desired = row.integer(7);
    s.updated = row.integer(8);
    s.ready = row.integer(9);
    s.stale = row.integer(10);
    s.message.assign(row.text(11));
    s.parked.assign(row.text(12));
    s.epoch = Epoch(row.number(13));
    s.sequence = row.number(14);
    s.reported_at_unix_ms = row.integer(15);
    s.detail.assign(row.text(16));
    s.ns.assign(row.text(17));  // those of the record, whatever the agent reported
    s.name.assign(row.text(18));
    read_children(connection, s.key, s.children);
    bytes += text_bytes(s);
    page.more = count > 0 && bytes > q.bytes_max;
    if (page.more) return page;
    page.next.version = s.status_version;
    page.more = !visit(s);
    if (page.more) return page;
  }
  page.next.version = page.head.status_head;
  return page;
}

}  // namespace davit::storage_sqlite

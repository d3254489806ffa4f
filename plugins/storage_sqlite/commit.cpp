#include "commit.hpp"

#include <algorithm>
#include <set>

#include "davit/storage_groups.hpp"

namespace davit::storage_sqlite {
namespace {

using V = std::string_view;

// Request ids are kept long enough for any retry: for ten minutes and for 100,000 versions,
// whichever lasts longer.
constexpr int64_t requests_kept_ms = 600'000;
constexpr uint64_t requests_kept_versions = 100'000;

}  // namespace

Commit::Commit(Connection& connection, const storage::Chain& chain, int64_t now_unix_ms)
    : connection_(connection), chain_(chain), now_(now_unix_ms) {
  Statement s = connection_.query("SELECT head FROM store");
  if (s.step()) first_ = next_ = Version(s.number(0)).next();
}

GroupResult Commit::apply(const Group& group) {
  GroupResult result;
  result.incarnation = chain_.current();
  result.error = storage::malformed(group);
  if (result.error || connection_.failed()) return result;
  if (const auto first = repeated(group.request_id, result.error)) {
    result.first_version = *first;
    return result;
  }
  if (result.error) return result;
  const std::vector<Version> dead = dead_with_names_of(group);
  // One mutation writes last of all, so when it fails there is nothing to undo. A savepoint is not
  // free: SQLite copies each page that is written after it.
  const bool savepoint = !dead.empty() || group.mutations.size() > 1;
  if (savepoint) connection_.run("SAVEPOINT one_group");
  const Version before = next_;
  take_names_of(dead);
  result.first_version = next_;
  for (const auto& m : group.mutations) {
    result.error = mutate(m, group.request_id, next_, result.actual_version);
    if (result.error) break;
    ++next_;
  }
  if (result.error) {
    if (savepoint) connection_.run("ROLLBACK TO one_group");
    next_ = before;
    result.first_version = {};
  } else if (!group.request_id.empty()) {
    connection_.run(
        "INSERT INTO requests (first_version, request_id, committed_at_unix_ms) VALUES (?, ?, ?)",
        result.first_version, V(group.request_id), now_);
  }
  if (savepoint) connection_.run("RELEASE one_group");
  return result;
}

std::optional<Error> Commit::mutate(const Mutation& m, const std::string& request_id,
                                    Version version, Version& actual) {
  const Record& r = m.record;
  const Stored before = stored(r.key);
  if (auto error = storage::unmet(m, before.version, chain_, first_ - 1)) {
    actual = before.version;
    return error;
  }
  if (auto error = storage::renamed(r, before.ns, before.name)) return error;
  bool name_taken = before.version ? before.name_taken : r.name.empty();
  // A live record keeps its name, and a deleted record that stays deleted claims none.
  if ((r.live && !before.live) || !before.version) {
    if (auto error = take_name(r, name_taken)) return error;
  }
  write(r, before, request_id, version, name_taken);
  return std::nullopt;
}

Commit::Stored Commit::stored(const Key& key) {
  Statement s = connection_.query(
      "SELECT version, live, name_taken, ns, name FROM records WHERE kind = ? AND region = ? AND "
      "id = ?",
      V(key.kind), V(key.region), V(key.id));
  if (!s.step()) return {};
  return {Version(s.number(0)), s.integer(1) != 0, s.integer(2) != 0, std::string(s.text(3)),
          std::string(s.text(4))};
}

// The deleted records whose names the group takes over. Those that the group itself writes are left
// out: they get a version by it.
std::vector<Version> Commit::dead_with_names_of(const Group& group) {
  std::set<Key> own;
  for (const auto& m : group.mutations) own.insert(m.record.key);
  std::vector<Version> out;
  for (const auto& m : group.mutations) {
    const Record& r = m.record;
    if (!r.live || r.name.empty()) continue;
    Statement other = connection_.query(
        "SELECT version, id FROM records WHERE kind = ? AND region = ? AND name = ? AND ns = ? "
        "AND live = 0 AND name_taken = 0 ORDER BY version",
        V(r.key.kind), V(r.key.region), V(r.name), V(r.ns));
    while (other.step()) {
      const Version version(other.number(0));
      const bool is_own = own.contains({r.key.kind, r.key.region, std::string(other.text(1))});
      if (!is_own && std::find(out.begin(), out.end(), version) == out.end())
        out.push_back(version);
    }
  }
  return out;
}

// A record changes only with a new version, so these get theirs before the group does.
void Commit::take_names_of(const std::vector<Version>& dead) {
  for (const Version version : dead) {
    connection_.run(
        "UPDATE records SET version = ?, name_taken = 1, committed_at_unix_ms = ? WHERE version = "
        "?",
        next_++, now_, version);
  }
}

// `taken` becomes true for a deleted record whose name a live record holds.
std::optional<Error> Commit::take_name(const Record& r, bool& taken) {
  if (r.name.empty()) return std::nullopt;
  Statement other = connection_.query(
      "SELECT version, live, id FROM records WHERE kind = ? AND region = ? AND name = ? AND ns = ? "
      "AND id <> ? "
      "AND name_taken = 0",
      V(r.key.kind), V(r.key.region), V(r.name), V(r.ns), V(r.key.id));
  while (other.step()) {
    if (other.integer(1) != 0) {
      taken = true;
      if (!r.live) return std::nullopt;
      return storage::name_taken(r, std::string(other.text(2)));
    }
    if (r.live)  // of this group, see take_names_of
      connection_.run("UPDATE records SET name_taken = 1 WHERE version = ?", other.number(0));
  }
  taken = false;
  return std::nullopt;
}

void Commit::write(const Record& r, const Stored& before, const std::string& request_id,
                   Version version, bool name_taken) {
  // Once given, a name stays in the row, even if a mutation of the deleted record omits it.
  const std::string& ns = before.name.empty() ? r.ns : before.ns;
  const std::string& name = before.name.empty() ? r.name : before.name;
  const std::string& request = r.request_id.empty() ? request_id : r.request_id;
  if (before.version) connection_.run("DELETE FROM records WHERE version = ?", before.version);
  insert(connection_, r, {version, now_, name_taken && !r.live, ns, name, request});
}

void insert(Connection& connection, const Record& r, const Row& row) {
  const std::string annotations =
      r.annotations.empty() ? std::string() : storage::annotations_json(r.annotations);
  connection.run(
      "INSERT INTO records (version, live, name_taken, committed_at_unix_ms, kind, region, id, ns, "
      "name, state, author, "
      "request_id, annotations, json, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "nullif(?, ''), ?, ?)",
      row.version, int64_t{r.live}, int64_t{row.name_taken}, row.committed_at_unix_ms,
      V(r.key.kind), V(r.key.region), V(r.key.id), V(row.ns), V(row.name), V(r.state), V(r.author),
      V(row.request_id), V(annotations), V(r.json), Blob{r.payload});
}

std::optional<Version> Commit::repeated(const std::string& request_id,
                                        std::optional<Error>& error) {
  if (request_id.empty()) return std::nullopt;
  const size_t newline = request_id.rfind('\n');
  const bool marked = newline != std::string::npos;
  const std::string from = marked ? request_id.substr(0, newline) + '\n' : request_id;
  const std::string to = marked ? request_id.substr(0, newline) + '\v' : request_id;
  Statement s = connection_.query(
      "SELECT first_version, request_id FROM requests WHERE request_id = ?1 OR (request_id > ?2 "
      "AND request_id < ?3)",
      V(request_id), V(from), V(to));
  if (!s.step()) return std::nullopt;
  if (s.text(1) != request_id) error = storage::request_reused();
  return error ? std::nullopt : std::optional(Version(s.number(0)));
}

void Commit::forget_requests() {
  if (next_.value() <= requests_kept_versions) return;
  connection_.run("DELETE FROM requests WHERE first_version < ? AND committed_at_unix_ms < ?",
                  next_ - requests_kept_versions, now_ - requests_kept_ms);
}

bool Commit::finish() {
  if (next_ == first_) return false;
  forget_requests();
  connection_.run("UPDATE store SET head = ?", next_ - 1);
  return true;
}

}  // namespace davit::storage_sqlite

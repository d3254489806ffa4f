#include "loading.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit.hpp"
#include "incarnation.hpp"
#include "lock.hpp"
#include "schema.hpp"
#include "statuses.hpp"

namespace davit::storage_sqlite {
namespace {

using V = std::string_view;

constexpr const char* loading_table =
    "CREATE TABLE loading (one INTEGER PRIMARY KEY CHECK (one = 1), note TEXT NOT NULL) STRICT; "
    "INSERT INTO loading VALUES (1, '')";
constexpr const char* forget_all =
    "DELETE FROM records; DELETE FROM statuses; DELETE FROM children; DELETE FROM agents; DELETE "
    "FROM agent_kinds; DELETE FROM agent_issues; DELETE FROM requests; DELETE FROM incarnations; "
    "UPDATE store SET head = 0, status_head = 0, purged_through = 0; DROP TABLE IF EXISTS loading";

std::string note_in(Connection& c) {
  Statement s = c.query("SELECT note FROM loading");
  return s.step() ? std::string(s.text(0)) : std::string();
}

// A store that has never had a record or a status, whoever asked for them.
bool is_unused(Connection& c) {
  Statement s = c.query("SELECT 1 FROM store WHERE head = 0 AND status_head = 0");
  return s.step();
}

Error not_empty(Connection& c) {
  Statement s = c.query("SELECT head, (SELECT count(*) FROM records) FROM store");
  std::string has = "content";
  if (s.step())
    has = std::to_string(s.integer(1)) + (s.integer(1) == 1 ? " record" : " records") +
          ", and its newest version is " + std::to_string(s.number(0));
  return {Code::already_exists,
          "database \"" + c.path() + "\": is not empty: it has " + has +
              "; name a file that does not exist yet, or move this one away",
          c.path()};
}

// Returns the note.
Result<std::string> mark(Connection& c, storage::LoadBegin how) {
  Transaction transaction(c, Transaction::Kind::write);
  bool is_new = false;
  {
    Statement s = c.query("SELECT 1 FROM sqlite_schema");
    is_new = !s.step();
  }
  if (is_new) create_tables(c);
  if (auto r = judge_schema(c, Use::load); !r.ok()) return r.error();
  const bool goes_on = is_loading(c);
  if (c.failed()) return c.take_error();
  if (!goes_on && !is_unused(c)) return not_empty(c);
  if (!goes_on || how.anew) {
    c.script(forget_all);
    c.script(loading_table);
    mark_as_loading(c, true);
  }
  std::string note = note_in(c);
  if (auto r = transaction.commit(); !r.ok()) return r.error();
  return note;
}

// Changes nothing.
Result<std::string> look_at(const std::string& path) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0 || there.st_size == 0) return std::string();
  auto c = Connection::open(path, SQLITE_OPEN_READWRITE);
  if (!c.ok()) return c.error();
  (*c)->script("PRAGMA query_only = ON");
  if (auto r = judge_schema(**c, Use::load); !r.ok()) return r.error();
  Result<std::string> out = std::string();
  if (is_loading(**c)) {
    out = note_in(**c);
  } else if (!is_unused(**c)) {
    out = not_empty(**c);
  }
  if ((*c)->failed()) return (*c)->take_error();
  return out;
}

bool loads(Connection& c) {
  if (c.failed() || is_loading(c)) return !c.failed();
  c.fail({Code::failed_precondition,
          "database \"" + c.path() + "\": is not loading: begin a copy first", c.path()});
  return false;
}

void load_record(Connection& c, const Record& r) {
  Version before;
  std::string ns = r.ns, name = r.name;
  {
    Statement s =
        c.query("SELECT version, ns, name FROM records WHERE kind = ? AND region = ? AND id = ?",
                V(r.key.kind), V(r.key.region), V(r.key.id));
    if (s.step()) {
      before = Version(s.number(0));
      if (name.empty()) ns = s.text(1), name = s.text(2);  // from before it was taken over
    }
  }
  if (before >= r.version) return;
  if (before) c.run("DELETE FROM records WHERE version = ?", before);
  insert(c, r,
         {r.version, r.committed_at_unix_ms, !r.live && r.name.empty(), ns, name, r.request_id});
}

}  // namespace

Result<std::string> begin_loading(const std::string& path, storage::LoadBegin how) {
  if (path == ":memory:")
    return Error{Code::failed_precondition, "a database in memory takes no copy"};
  if (auto r = inspect(path, Use::load); !r.ok()) return r.error();
  if (how.look) {
    if (auto r = Lock::look(path); !r.ok()) return r.error();
    return look_at(path);
  }
  auto lock = Lock::take(path);
  if (!lock.ok()) return lock.error();
  if (auto r = inspect_locked(path, lock->was_made()); !r.ok()) return r.error();
  if (const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); made >= 0)
    ::close(made);
  auto c = Connection::open(path, SQLITE_OPEN_READWRITE);
  if (!c.ok()) return c.error();
  (*c)->script("PRAGMA synchronous = FULL");
  auto note = mark(**c, how);
  if (!note.ok()) return (*c)->failed() ? (*c)->take_error() : note.error();
  lock->note_made();
  return note;
}

void load(Connection& c, const storage::Load& what) {
  if (!loads(c)) return;
  for (const Record& r : what.records) load_record(c, r);
  for (const Status& s : what.statuses) load_status(c, s);
  if (!what.records.empty())
    c.run("UPDATE store SET head = max(head, ?)", what.records.back().version);
  if (!what.statuses.empty())
    c.run("UPDATE store SET status_head = max(status_head, ?)",
          what.statuses.back().status_version);
  c.run("UPDATE loading SET note = ?", V(what.note));
}

// The versions that an incarnation may give begin behind the end of the one before it.
void finish_loading(Connection& c, const storage::LoadEnd& end, int64_t now) {
  if (!loads(c)) return;
  if (end.history.empty())
    return c.fail({Code::invalid_argument, "a history has at least one incarnation"});
  c.script(
      "DELETE FROM statuses WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.kind = "
      "statuses.kind AND r.region = statuses.region AND r.id = statuses.id); "
      "DELETE FROM children WHERE NOT EXISTS (SELECT 1 FROM statuses AS s WHERE s.kind = "
      "children.kind AND s.region = children.region AND s.id = children.id); "
      "DELETE FROM incarnations");
  const auto add = [&](Incarnation incarnation, Version first, Version first_status) {
    c.run(
        "INSERT INTO incarnations (incarnation, first_version, first_status_version, "
        "opened_at_unix_ms) VALUES (?, ?, ?, ?)",
        incarnation, first, first_status, now);
  };
  const size_t kept = std::min(end.history.size(), storage::Chain::links_max - 1);
  Version first = 1;
  for (size_t i = end.history.size() - kept; i < end.history.size(); ++i) {
    add(end.history[i].incarnation, first, 1);
    first = end.history[i].version.next();
  }
  add(new_incarnation(), first, end.status_head.next());
  c.run("UPDATE store SET head = ?, status_head = ?", end.history.back().version, end.status_head);
  c.script("DROP TABLE loading");
  mark_as_loading(c, false);
}

}  // namespace davit::storage_sqlite

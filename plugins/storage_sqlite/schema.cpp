#include "schema.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

namespace davit::storage_sqlite {
namespace {

constexpr int64_t application_id = 0x44617674;  // "Davt": it marks our files, also for file(1)

// `version` is the rowid, so reading in the order of versions is reading in the order of the table.
// People may query every column. payload and json come last, where they cost nothing to readers of
// the other columns.
constexpr const char* tables = R"sql(
CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  head INTEGER NOT NULL,           -- newest version of a record
  status_head INTEGER NOT NULL,    -- newest version of a status
  purged_through INTEGER NOT NULL  -- tombstones at or below it are gone
) STRICT;
INSERT INTO store VALUES (1, 0, 0, 0);

CREATE TABLE incarnations (
  number INTEGER PRIMARY KEY,
  incarnation INTEGER NOT NULL UNIQUE,
  first_version INTEGER NOT NULL,
  first_status_version INTEGER NOT NULL,
  opened_at_unix_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE records (
  version INTEGER PRIMARY KEY,
  live INTEGER NOT NULL,
  name_taken INTEGER NOT NULL,     -- 1: dead, and a live record has taken its name over
  committed_at_unix_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  region TEXT NOT NULL,
  id TEXT NOT NULL,
  ns TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  author TEXT NOT NULL,
  request_id TEXT NOT NULL,
  annotations TEXT,                -- JSON object, NULL when there are none
  json TEXT NOT NULL,
  payload BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_key ON records (kind, region, id);
CREATE INDEX records_name ON records (kind, region, name, ns);
CREATE INDEX records_scope ON records (kind, region);
CREATE INDEX records_dead ON records (version) WHERE live = 0;

CREATE TABLE requests (
  first_version INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  committed_at_unix_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE statuses (
  status_version INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  region TEXT NOT NULL,
  id TEXT NOT NULL,
  gone INTEGER NOT NULL,
  observed_version INTEGER NOT NULL,
  health TEXT NOT NULL,
  desired INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  ready INTEGER NOT NULL,
  stale INTEGER NOT NULL,
  message TEXT NOT NULL,
  parked TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  reported_at_unix_ms INTEGER NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX statuses_key ON statuses (kind, region, id);

CREATE TABLE children (
  kind TEXT NOT NULL,
  region TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  address TEXT NOT NULL,
  status TEXT NOT NULL,
  cpu_millicores INTEGER NOT NULL,
  memory_mib INTEGER NOT NULL,
  PRIMARY KEY (kind, region, id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
  region TEXT NOT NULL,
  agent TEXT NOT NULL,
  software TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  seen_at_unix_ms INTEGER NOT NULL,
  PRIMARY KEY (region, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_kinds (
  region TEXT NOT NULL,
  agent TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  incarnation INTEGER NOT NULL,
  applied_version INTEGER NOT NULL,
  PRIMARY KEY (region, agent, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_issues (
  region TEXT NOT NULL,
  agent TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  ns TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  condition TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (region, agent, ordinal)
) STRICT, WITHOUT ROWID;
)sql";

Error fault(const std::string& path, Code code, const std::string& text) {
  return {code, "database \"" + path + "\": " + text, path, {}};
}

// Checks the ids that the file's header, or SQLite, gives.
Result<> judge(const std::string& path, int64_t application, int64_t version) {
  if (application != application_id) {
    return fault(path, Code::failed_precondition,
                 "belongs to another program: choose another path");
  }
  if (version > schema_version) {
    return fault(path, Code::failed_precondition,
                 "has schema " + std::to_string(version) + ", newer than " +
                     std::to_string(schema_version) +
                     ", the newest this davit knows: upgrade davit, or choose another path");
  }
  if (version < schema_version) {
    return fault(path, Code::failed_precondition,
                 "has schema " + std::to_string(version) +
                     " of an earlier pre-release, and this "
                     "davit reads " +
                     std::to_string(schema_version) +
                     ": move it away to begin anew, or go back to the davit that wrote it");
  }
  return {};
}

int64_t pragma(Connection& connection, const char* sql) {
  Statement s = connection.query(sql);
  return s.step() ? s.integer(0) : 0;
}

// Offsets in the database header, https://sqlite.org/fileformat2.html section 1.3.
constexpr size_t header_size = 100, user_version_at = 60, application_id_at = 68;
constexpr std::string_view magic("SQLite format 3\0", 16);

Result<> inspect_header(const std::string& path) {
  std::array<char, header_size> header{};
  std::ifstream in(path, std::ios::binary);
  in.read(header.data(), header.size());
  const auto size = static_cast<size_t>(in.gcount());
  if (size == 0) return {};
  if (size < header_size || std::string_view(header.data(), magic.size()) != magic) {
    return fault(
        path, Code::data_loss,
        "is not an SQLite database, or corrupt: restore a backup, or move it away to begin anew");
  }
  const auto big_endian = [&](size_t at) {
    int64_t value = 0;
    for (size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(header[i]);
    return value;
  };
  const int64_t application = big_endian(application_id_at);
  // A process was killed while it created the tables. SQLite undoes that when it opens the file.
  if (application == 0 && access((path + "-journal").c_str(), F_OK) == 0) return {};
  return judge(path, application, big_endian(user_version_at));
}

}  // namespace

Result<> inspect(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    const std::string directory =
        path.rfind('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
    if (errno == ENOENT && stat(directory.c_str(), &status) != 0) {
      return fault(path, Code::failed_precondition,
                   "its directory does not exist: make it, or choose another path");
    }
    if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
      return fault(path, Code::failed_precondition,
                   "its directory is not writable (" + std::string(std::strerror(errno)) +
                       "): make it writable, or choose another path");
    }
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    return fault(path, Code::failed_precondition, "is not a file: choose another path");
  }
  if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
    return fault(
        path, Code::failed_precondition,
        "cannot be read (" + std::string(std::strerror(errno)) + "): correct its permissions");
  }
  if (auto r = inspect_header(path); !r.ok()) return r;
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    return fault(path, Code::failed_precondition,
                 "is read-only: make the file and its directory writable");
  }
  return {};
}

Result<> inspect_new_folder(const std::string& path) {
  const auto refuse = [&](const std::string& what, int error, const std::string& advice) {
    return Error{Code::failed_precondition, "state directory " + path + " " + what + " (" +
                                                std::strerror(error) + "): " + advice +
                                                ", or set host.state_dir"};
  };
  std::string above = path;
  struct stat status {};
  int error = 0;
  while ((error = stat(above.c_str(), &status) == 0 ? 0 : errno) == ENOENT && above.size() > 1)
    above.resize(std::max<size_t>(above.rfind('/'), 1));
  if (error == EACCES) return refuse("cannot be seen", error, "run this as the server's user");
  if (error == 0 && !S_ISDIR(status.st_mode)) error = ENOTDIR;
  if (error == 0 && faccessat(AT_FDCWD, above.c_str(), W_OK | X_OK, AT_EACCESS) != 0) error = errno;
  if (error == 0) return {};
  return refuse("cannot be made", error, "make \"" + above + "\" writable");
}

Result<> inspect_copy(const std::string& path) {
  return inspect_header(path);
}

Result<> inspect_locked(const std::string& path, bool was_made) {
  struct stat status {};
  if (stat((path + ".restore").c_str(), &status) == 0) {
    return fault(path, Code::failed_precondition,
                 "a restore of it was interrupted: repeat `davit storage restore`");
  }
  if (was_made && stat(path.c_str(), &status) == 0 && status.st_size == 0) {
    return fault(path, Code::data_loss,
                 "is empty, and was not when it was used last: restore a backup, or remove it to "
                 "begin anew");
  }
  return {};
}

Result<> prepare_schema(Connection& connection) {
  const bool empty = pragma(connection, "SELECT count(*) FROM sqlite_schema") == 0;
  const int64_t application = pragma(connection, "PRAGMA application_id");
  const int64_t version = pragma(connection, "PRAGMA user_version");
  if (connection.failed()) return connection.take_error();
  if (!empty) return judge(connection.path(), application, version);
  // Both ids are set in the transaction of the tables and before WAL begins, so a file has all of
  // it or nothing.
  Transaction transaction(connection, Transaction::Kind::write);
  connection.script(tables);
  connection.script(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
  connection.script(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
  return transaction.commit();
}

}  // namespace davit::storage_sqlite

// The part of Database that opens it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "database.hpp"
#include "incarnation.hpp"

namespace davit::storage_sqlite {
namespace {

// Sizes of SQLite's own caches. They need not be large: further pages come from the operating
// system's cache.
constexpr const char* writer_settings =
    "PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA journal_size_limit = 67108864";
constexpr const char* reader_settings = "PRAGMA query_only = ON; PRAGMA cache_size = -200";

// Checking a file takes about a second for this many bytes. The faults of a larger file show when
// it is read.
constexpr int64_t checked_bytes = 256 << 20;

Result<> check_content(Connection& c, int64_t bytes) {
  if (bytes > checked_bytes) return {};
  std::string found;
  {
    Statement s = c.query("PRAGMA quick_check(1)");
    if (s.step()) found = s.text(0);
  }
  if (c.failed()) return c.take_error();
  if (found == "ok") return {};
  return Error{Code::data_loss,
               "database \"" + c.path() + "\": is corrupt (" + found +
                   "): restore a backup, or move it away to begin anew",
               c.path()};
}

// False: nothing was ever written.
bool read_stored(Connection& c, storage::Chain& chain) {
  bool any = false;
  Statement s = c.query(
      "SELECT incarnation, first_version, first_status_version FROM incarnations ORDER BY number");
  for (; s.step(); any = true)
    chain.append({Incarnation(s.number(0)), Version(s.number(1)), Version(s.number(2))});
  return any;
}

}  // namespace

Result<> Database::check(const std::string& path) {
  if (path == ":memory:") return {};
  if (auto r = inspect(path); !r.ok()) return r;
  return Lock::look(path);
}

Result<std::unique_ptr<Database>> Database::open(const Host& host, const std::string& path,
                                                 Use use) {
  const bool memory = path == ":memory:";
  std::string real = path;
  // The lock and the errors name the file itself, not one of several links to it.
  if (char* resolved = memory ? nullptr : realpath(path.c_str(), nullptr); resolved != nullptr) {
    real = resolved;
    std::free(resolved);
  }
  std::unique_ptr<Database> d(new Database(host, real, use));
  Result<> opened = memory             ? d->open_memory()
                    : is_observed(use) ? d->open_observed()
                                       : d->open_file();
  if (!opened.ok()) return opened.error();
  if (auto r = d->read_chain(); !r.ok()) return r.error();
  return d;
}

// The owner of the file may go on writing to it, and whoever is alone keeps others from it.
Result<> Database::open_observed() {
  struct stat there {};
  if (stat(path_.c_str(), &there) != 0 && errno == ENOENT)
    return Error{Code::failed_precondition, "database \"" + path_ + "\": is not there", path_};
  if (auto r = inspect(path_, use_); !r.ok()) return r;
  if (use_ == Use::observe_alone) {
    auto lock = Lock::take(path_);
    if (!lock.ok()) return lock.error();
    lock_.emplace(std::move(*lock));
  }
  if (auto r = inspect_locked(path_, false); !r.ok()) return r;
  auto first = connect_reader();
  if (!first.ok()) return first.error();
  if (auto r = judge_schema(**first, use_); !r.ok()) return r;
  readers_.push_back(std::move(*first));
  return {};
}

Result<> Database::open_memory() {
  auto made = Connection::open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!made.ok()) return made.error();
  writer_ = std::move(*made);
  return prepare_schema(*writer_, use_);
}

Result<> Database::open_file() {
  if (auto r = inspect(path_, use_); !r.ok()) return r;
  auto lock = Lock::take(path_);
  if (!lock.ok()) return lock.error();
  lock_.emplace(std::move(*lock));
  if (auto r = inspect_locked(path_, lock_->was_made()); !r.ok()) return r;
  // SQLite's journal gets the same mode.
  if (const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); made >= 0)
    close(made);
  if (auto r = open_writer(); !r.ok()) return r;
  lock_->note_made();
  open_files_.emplace(path_);
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0) status.st_size = 0;
  return check_content(*writer_, status.st_size);
}

Result<> Database::open_writer() {
  auto made = Connection::open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!made.ok()) return made.error();
  writer_ = std::move(*made);
  Connection& c = *writer_;
  if (sqlite3_db_readonly(c.get(), "main") == 1) return c.translate(SQLITE_READONLY);
  c.script(writer_settings);
  if (c.failed()) return c.take_error();
  if (auto r = prepare_schema(c, use_); !r.ok()) return r;
  {
    Statement s = c.query("PRAGMA journal_mode = WAL");
    if (s.step() && s.text(0) != "wal") {
      return Error{
          Code::failed_precondition,
          "database \"" + path_ +
              "\": its file system has no shared memory, which WAL needs: choose a local one",
          path_};
    }
  }
  if (c.failed()) return c.take_error();
  begin_journal();
  return {};
}

// Opens the file again, because SQLite's view of it may differ from the disk. The caller holds the
// writer's lock.
Result<> Database::reopen() {
  const std::lock_guard no_measure(measuring_);
  {
    const std::lock_guard lock(readers_mutex_);
    readers_.clear();
  }
  mover_is_old_ = true;
  writer_.reset();
  if (open_files_) open_files_->journal_was_closed();
  auto r = open_writer();
  if (r.ok()) {
    Version head;
    {
      Statement s = writer_->query("SELECT head FROM store");
      if (s.step()) head = Version(s.number(0));
    }
    begun_ = use_ != Use::serve;  // the row may have been lost; storing it again does no harm
    if (writer_->failed()) r = writer_->take_error();
    if (r.ok()) host_.info("database opened anew", {{"head", to_string(head)}});
  }
  if (!r.ok()) writer_.reset();
  unsettled_ = !r.ok();
  return r;
}

const storage::Chain& Database::chain_in(Connection& c, storage::Chain& read) const {
  if (use_ == Use::serve) return chain_;
  if (!read_stored(c, read)) read.append(chain_.last());
  return read;
}

Result<> Database::read_chain() {
  begun_ = use_ != Use::serve;
  Connection& c = writer_ ? *writer_ : *readers_.back();
  storage::Chain::Link link{new_incarnation(), 1, 1};
  {
    Transaction transaction(c, Transaction::Kind::read);
    Statement head = c.query("SELECT head, status_head FROM store");
    if (head.step())
      link.first_version = Version(head.number(0) + 1),
      link.first_status_version = Version(head.number(1) + 1);
    read_stored(c, chain_);
  }
  if (c.failed()) return c.take_error();
  while (chain_.has(link.incarnation)) link.incarnation = new_incarnation();
  chain_.append(link);
  chain_.trim();
  return {};
}

Result<std::unique_ptr<Connection>> Database::connect_reader() const {
  auto made = Connection::open(path_, SQLITE_OPEN_READWRITE);
  if (!made.ok()) return made.error();
  (*made)->script(reader_settings);
  if ((*made)->failed()) return (*made)->take_error();
  return made;
}

}  // namespace davit::storage_sqlite

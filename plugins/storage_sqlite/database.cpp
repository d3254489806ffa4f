#include "database.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "agents.hpp"
#include "commit.hpp"
#include "purge.hpp"
#include "records.hpp"
#include "schema.hpp"
#include "statuses.hpp"

namespace davit::storage_sqlite {
namespace {

// SQLite's own caches. Pages beyond them come from the operating system's, so they need not be
// large.
constexpr const char* writer_settings =
    "PRAGMA synchronous = FULL; PRAGMA cache_size = -8000; PRAGMA journal_size_limit = 67108864";
constexpr const char* reader_settings = "PRAGMA query_only = ON; PRAGMA cache_size = -200";

// Checking a file takes about a second for each of these many bytes; larger ones show their faults
// when read.
constexpr int64_t checked_bytes = 256 << 20;

// The journal is moved into the file each time it has grown by so many pages of 4 KiB, beside the
// commits. When they never pause there is always one more to move, and it does not begin anew: from
// so many pages on they wait for the last few. A journal that only grows costs each commit up to
// twice the flush, because the file's size is flushed with it. At its limit, which readers that
// never end can bring about, commits move it themselves.
constexpr int journal_step = 1'000;
constexpr int journal_wanted = 2'000;
constexpr int journal_max = 16'000;
constexpr int moves_at_once = 2;  // what is committed during one is left for the next, and is less

constexpr int64_t incarnations_kept = 1'000;  // a cursor older than so many restarts begins anew

// Two copies of one file must not give themselves the same incarnation, so this one number does not
// come from the host's clock or randomness, which tests repeat. 63 bits: SQLite's integers are
// signed.
uint64_t new_incarnation() {
  std::random_device device;
  return ((uint64_t{device()} << 32 | device()) & INT64_MAX) | 1;
}

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
               c.path(),
               {}};
}

}  // namespace

// A connection for the time of one read; in memory the only one there is.
class Database::Reader {
 public:
  explicit Reader(Database& database) : database_(database) {
    if (!database.lock_) {
      only_ = std::unique_lock(database.writer_mutex_);
      connection_ = database.writer_.get();
      return;
    }
    const std::lock_guard lock(database.readers_mutex_);
    if (database.readers_.empty()) return;
    own_ = std::move(database.readers_.back());
    database.readers_.pop_back();
    connection_ = own_.get();
  }
  ~Reader() {
    if (!own_) return;
    const std::lock_guard lock(database_.readers_mutex_);
    database_.readers_.push_back(std::move(own_));
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  // There are as many connections as there were ever reads at the same time.
  Result<> connect() {
    if (connection_ != nullptr) return {};
    auto made = database_.connect_reader();
    if (!made.ok()) return made.error();
    own_ = std::move(*made);
    connection_ = own_.get();
    return {};
  }
  Connection& operator*() const { return *connection_; }

 private:
  Database& database_;
  std::unique_lock<std::mutex> only_;
  std::unique_ptr<Connection> own_;
  Connection* connection_ = nullptr;
};

Result<> Database::check(const std::string& path) {
  if (path == ":memory:") return {};
  return inspect(path);
}

Result<std::unique_ptr<Database>> Database::open(const Host& host, const std::string& path) {
  const bool memory = path == ":memory:";
  std::string real = path;
  // The lock and errors should name the file itself, not one of several links to it.
  if (char* resolved = memory ? nullptr : realpath(path.c_str(), nullptr); resolved != nullptr) {
    real = resolved;
    std::free(resolved);
  }
  std::unique_ptr<Database> d(new Database(host, real));
  if (auto r = memory ? d->open_memory() : d->open_file(); !r.ok()) return r.error();
  if (auto r = d->begin_incarnation(); !r.ok()) return r.error();
  return d;
}

Result<> Database::open_memory() {
  auto made = Connection::open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!made.ok()) return made.error();
  writer_ = std::move(*made);
  return prepare_schema(*writer_);
}

Result<> Database::open_file() {
  if (auto r = inspect(path_); !r.ok()) return r;
  auto lock = Lock::take(path_);
  if (!lock.ok()) return lock.error();
  lock_.emplace(std::move(*lock));
  // SQLite would make it readable for everybody; its journal takes over the mode.
  if (const int made = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640); made >= 0)
    close(made);
  auto made = Connection::open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!made.ok()) return made.error();
  writer_ = std::move(*made);
  Connection& c = *writer_;
  if (sqlite3_db_readonly(c.get(), "main") == 1) return c.translate(SQLITE_READONLY);
  c.script(writer_settings);
  if (c.failed()) return c.take_error();
  if (auto r = prepare_schema(c); !r.ok()) return r;
  {
    Statement s = c.query("PRAGMA journal_mode = WAL");
    if (s.step() && s.text(0) != "wal") {
      return Error{
          Code::failed_precondition,
          "database \"" + path_ +
              "\": its file system has no shared memory, which WAL needs: choose a local one",
          path_,
          {}};
    }
  }
  if (c.failed()) return c.take_error();
  journal_due_at_ = journal_step;
  sqlite3_wal_hook(c.get(), &Database::journal_grew, this);
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0) status.st_size = 0;
  return check_content(c, status.st_size);
}

Database::~Database() {
  readers_.clear();
  mover_.reset();
  writer_.reset();  // the last to close moves the journal into the file
}

Result<> Database::begin_incarnation() {
  Connection& c = *writer_;
  Transaction transaction(c, Transaction::Kind::write);
  c.run("DELETE FROM incarnations WHERE number <= (SELECT max(number) FROM incarnations) - ?",
        incarnations_kept);
  uint64_t head = 0;
  {
    Statement s = c.query("SELECT head FROM store");
    if (s.step()) head = s.number(0);
  }
  {
    Statement s = c.query("SELECT incarnation, first_version FROM incarnations ORDER BY number");
    while (s.step()) chain_.append(s.number(0), s.number(1));
  }
  uint64_t incarnation = new_incarnation();
  while (chain_.has(incarnation)) incarnation = new_incarnation();
  chain_.append(incarnation, head + 1);
  c.run("INSERT INTO incarnations (incarnation, first_version, opened_at_unix_ms) VALUES (?, ?, ?)",
        incarnation, head + 1, host_.unix_ms());
  return transaction.commit();
}

Result<std::unique_ptr<Connection>> Database::connect_reader() const {
  auto made = Connection::open(path_, SQLITE_OPEN_READWRITE);
  if (!made.ok()) return made.error();
  (*made)->script(reader_settings);
  if ((*made)->failed()) return (*made)->take_error();
  return made;
}

template <class Work>
auto Database::reading(const Op& op, Work work)
    -> Result<decltype(work(std::declval<Connection&>()))> {
  Reader reader(*this);
  if (auto r = reader.connect(); !r.ok()) return r.error();
  Connection& c = *reader;
  std::optional<decltype(work(c))> out;
  {
    const Connection::Watch watch(c, op, host_);
    Transaction transaction(c, Transaction::Kind::read);
    out.emplace(work(c));  // rolled back, which ends a read as well as a commit does
  }
  if (c.failed()) return c.take_error();
  return std::move(*out);
}

// A mutex alone goes to whoever asks again at once: commits that never pause would keep the mover
// of the journal out.
std::unique_lock<std::mutex> Database::take_writer() {
  const std::lock_guard turn(writer_turn_);
  return std::unique_lock(writer_mutex_);
}

template <class Work>
auto Database::writing(const Op& op, Work work)
    -> Result<decltype(work(std::declval<Connection&>()))> {
  const auto lock = take_writer();
  Connection& c = *writer_;
  Transaction transaction(c, Transaction::Kind::write);
  std::optional<decltype(work(c))> out;
  {
    // Not around the commit: a progress handler may answer for a statement that has succeeded.
    const Connection::Watch watch(c, op, host_);
    out.emplace(work(c));
  }
  if (auto r = transaction.commit(); !r.ok()) return r.error();
  return std::move(*out);
}

Result<Head> Database::head(const Op& op) {
  return reading(op, [&](Connection& c) { return read_head(c, chain_); });
}

Result<Page> Database::read(const Op& op, const ReadRequest& request,
                            const storage::VisitRecord& visit) {
  return reading(op, [&](Connection& c) { return read_page(c, chain_, request, visit); });
}

Result<Head> Database::get(const Op& op, const Query& query, const storage::VisitRecord& visit) {
  return reading(op, [&](Connection& c) { return get_records(c, chain_, query, visit); });
}

Result<uint64_t> Database::statuses(const Op& op, const Scope& scope, uint64_t after,
                                    uint32_t limit, const storage::VisitStatus& visit) {
  return reading(op, [&](Connection& c) {
    return read_statuses(c, scope, after, limit, read_head(c, chain_).status_head, visit);
  });
}

Result<> Database::agents(const Op& op, const storage::VisitProgress& visit) {
  return reading(op, [&](Connection& c) {
    read_agents(c, visit);
    return std::monostate();
  });
}

Result<History> Database::history(const Op& op) {
  return reading(op,
                 [&](Connection& c) { return chain_.history(read_head(c, chain_).head.version); });
}

Result<Database::Committed> Database::commit(const Op& op, const std::vector<Group>& groups) {
  return writing(op, [&](Connection& c) {
    Committed out;
    Commit commit(c, host_.unix_ms());
    for (const auto& group : groups) out.results.push_back(commit.apply(group));
    if (commit.finish()) out.records = commit.records();
    return out;
  });
}

Result<size_t> Database::report(const Op& op, const std::vector<Status>& statuses) {
  return writing(
      op, [&](Connection& c) { return store_statuses(c, chain_, statuses, host_.unix_ms()); });
}

Result<> Database::progress(const Op& op, const Progress& progress) {
  return writing(op, [&](Connection& c) {
    store_progress(c, progress);
    return std::monostate();
  });
}

Result<> Database::forget(const Op& op, const storage::Maintain::ForgetAgent& agent) {
  return writing(op, [&](Connection& c) {
    forget_agent(c, agent);
    return std::monostate();
  });
}

Result<> Database::purge(const Op& op, uint64_t through) {
  while (true) {
    auto more = writing(op, [&](Connection& c) { return purge_some(c, through); });
    if (!more.ok()) return more.error();
    if (!*more) return {};
  }
}

// After each commit, with the writer's lock held.
int Database::journal_grew(void* self, sqlite3* connection, const char*, int pages) {
  auto& database = *static_cast<Database*>(self);
  database.journal_pages_ = pages;
  if (pages < journal_step) database.journal_due_at_ = journal_step;  // it begins anew
  if (pages >= journal_max) sqlite3_wal_checkpoint(connection, nullptr);
  return SQLITE_OK;
}

bool Database::journal_is_due() {
  int due = journal_due_at_;
  const int pages = journal_pages_;
  return lock_ && pages >= due &&
         journal_due_at_.compare_exchange_strong(due, pages + journal_step);
}

Result<> Database::move_journal() {
  const std::lock_guard lock(mover_mutex_);
  if (!mover_) {
    auto made = Connection::open(path_, SQLITE_OPEN_READWRITE);
    if (!made.ok()) return made.error();
    // Who has never read knows of no journal, and would move nothing.
    (*made)->script("SELECT count(*) FROM sqlite_schema");
    if ((*made)->failed()) return (*made)->take_error();
    mover_ = std::move(*made);
  }
  int moved = 0;
  const auto move = [&] {
    return sqlite3_wal_checkpoint_v2(mover_->get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                                     &moved);
  };
  int code = SQLITE_OK;
  for (int i = 0; code == SQLITE_OK && i < moves_at_once && moved < journal_pages_; ++i)
    code = move();
  if (code == SQLITE_OK && moved < journal_pages_ && journal_pages_ >= journal_wanted) {
    const auto no_commits = take_writer();
    code = move();
  }
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};  // busy: somebody else is at it
  return mover_->translate(code);
}

// What SQLite advises to do now and then: statistics for its planner, the journal moved into the
// file.
Result<> Database::tidy() {
  const auto lock = take_writer();
  writer_->script("PRAGMA optimize; PRAGMA wal_checkpoint(PASSIVE)");
  if (writer_->failed()) return writer_->take_error();
  return {};
}

}  // namespace davit::storage_sqlite

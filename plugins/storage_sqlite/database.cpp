#include "database.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "agents.hpp"
#include "commit.hpp"
#include "copy.hpp"
#include "incarnation.hpp"
#include "purge.hpp"
#include "records.hpp"
#include "schema.hpp"
#include "statuses.hpp"

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

}  // namespace

// The connection of one read. In memory it is the only connection.
class Database::Reader {
 public:
  explicit Reader(Database& database) : database_(database) {
    if (!database.lock_) return;
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
  // Opens a connection if all are in use. There are as many as there were simultaneous reads.
  Result<> connect(const Op& op) {
    if (connection_ != nullptr) return {};
    if (!database_.lock_) {
      auto only = database_.writer_lock_.take(op, database_.host_);
      if (!only.ok()) return only.error();
      only_ = std::move(*only);
      connection_ = database_.writer_.get();
      return {};
    }
    auto made = database_.connect_reader();
    if (!made.ok()) return made.error();
    own_ = std::move(*made);
    connection_ = own_.get();
    return {};
  }
  Connection& operator*() const { return *connection_; }

 private:
  Database& database_;
  std::unique_lock<WriterLock> only_;
  std::unique_ptr<Connection> own_;
  Connection* connection_ = nullptr;
};

Result<> Database::check(const std::string& path) {
  if (path == ":memory:") return {};
  if (auto r = inspect(path); !r.ok()) return r;
  return Lock::look(path);
}

Result<std::unique_ptr<Database>> Database::open(const Host& host, const std::string& path) {
  const bool memory = path == ":memory:";
  std::string real = path;
  // The lock and the errors name the file itself, not one of several links to it.
  if (char* resolved = memory ? nullptr : realpath(path.c_str(), nullptr); resolved != nullptr) {
    real = resolved;
    std::free(resolved);
  }
  std::unique_ptr<Database> d(new Database(host, real));
  if (auto r = memory ? d->open_memory() : d->open_file(); !r.ok()) return r.error();
  if (auto r = d->read_chain(); !r.ok()) return r.error();
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
  if (auto r = prepare_schema(c); !r.ok()) return r;
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
    Version head{};
    {
      Statement s = writer_->query("SELECT head FROM store");
      if (s.step()) head = Version(s.number(0));
    }
    begun_ = false;  // the row may have been lost; storing it again does no harm
    if (writer_->failed()) r = writer_->take_error();
    if (r.ok()) host_.info("database opened anew", {{"head", to_string(head)}});
  }
  if (!r.ok()) writer_.reset();
  unsettled_ = !r.ok();
  return r;
}

Database::~Database() {
  readers_.clear();
  mover_.reset();
  writer_.reset();  // the last connection to close moves the journal into the file
}

Result<> Database::read_chain() {
  Connection& c = *writer_;
  storage::Chain::Link link{new_incarnation(), Version(1), Version(1)};
  {
    Transaction transaction(c, Transaction::Kind::read);
    Statement head = c.query("SELECT head, status_head FROM store");
    if (head.step())
      link.first_version = Version(head.number(0) + 1),
      link.first_status_version = Version(head.number(1) + 1);
    Statement s = c.query(
        "SELECT incarnation, first_version, first_status_version FROM incarnations ORDER BY "
        "number");
    while (s.step())
      chain_.append({Incarnation(s.number(0)), Version(s.number(1)), Version(s.number(2))});
  }
  if (c.failed()) return c.take_error();
  while (chain_.has(link.incarnation)) link.incarnation = new_incarnation();
  chain_.append(link);
  chain_.trim();
  return {};
}

// Runs in the transaction of a write, so that both are kept or neither.
void Database::begin_incarnation(Connection& c) {
  const storage::Chain::Link& link = chain_.last();
  c.run(
      "INSERT OR IGNORE INTO incarnations (incarnation, first_version, first_status_version, "
      "opened_at_unix_ms) VALUES (?, ?, ?, ?)",
      link.incarnation, link.first_version, link.first_status_version, host_.unix_ms());
  c.run("DELETE FROM incarnations WHERE number <= (SELECT max(number) FROM incarnations) - ?",
        static_cast<int64_t>(storage::Chain::links_max));
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
  if (auto r = reader.connect(op); !r.ok()) return r.error();
  Connection& c = *reader;
  std::optional<decltype(work(c))> out;
  {
    Transaction transaction(c, Transaction::Kind::read);
    const Connection::Watch watch(c, op, host_);  // does not disturb the rollback
    out.emplace(work(c));  // the rollback ends a read as well as a commit does
  }
  if (c.failed()) return c.take_error();
  return std::move(*out);
}

template <class Work>
auto Database::writing(const Op& op, Work work)
    -> Result<decltype(work(std::declval<Connection&>()))> {
  const auto held = writer_lock_.take(op, host_);
  if (!held.ok()) return held.error();
  if (unsettled_) {
    if (auto r = reopen(); !r.ok()) return r.error();
  }
  Connection& c = *writer_;
  std::optional<Transaction> transaction;
  std::optional<decltype(work(c))> out;
  {
    // The commit is outside, because a progress handler may report a failure for a statement that
    // has succeeded.
    Connection::Watch watch(c, op, host_);
    transaction.emplace(c, Transaction::Kind::write);
    if (!begun_) begin_incarnation(c);
    out.emplace(work(c));
    watch.look();
  }
  if (auto r = commit(*transaction); !r.ok()) return r.error();
  return std::move(*out);
}

Result<> Database::commit(Transaction& transaction) {
  Connection& c = *writer_;
  if (auto fault = open_files_ && !c.failed() ? open_files_->fault() : std::nullopt)
    c.fail({Code::data_loss, "database \"" + path_ + "\": " + *fault, path_});
  auto r = transaction.commit();
  unsettled_ = c.unsettled();
  if (r.ok()) begun_ = true;
  return r;
}

Result<> Database::begin(const Op& op) {
  if (begun_) return {};
  auto begun = writing(op, [](Connection&) { return std::monostate(); });
  return begun.ok() ? Result<>() : begun.error();
}

Result<Head> Database::head(const Op& op) {
  return reading(op, [&](Connection& c) { return read_head(c, chain_); });
}

Result<Page> Database::read(const Op& op, const ReadRequest& request,
                            const storage::VisitRecord& visit) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) { return read_page(c, chain_, request, visit); });
}

Result<Head> Database::get(const Op& op, const Query& query, const storage::VisitRecord& visit) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) { return get_records(c, chain_, query, visit); });
}

Result<StatusPage> Database::statuses(const Op& op, const StatusRead& request,
                                      const storage::VisitStatus& visit) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) { return read_statuses(c, chain_, request, visit); });
}

Result<bool> Database::agents(const Op& op, const AgentRead& request,
                              const storage::VisitProgress& visit) {
  return reading(op, [&](Connection& c) { return read_agents(c, request, visit); });
}

Result<History> Database::history(const Op& op) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op,
                 [&](Connection& c) { return chain_.history(read_head(c, chain_).head.version); });
}

Result<Database::Committed> Database::commit(const Op& op, const std::vector<Group>& groups) {
  return writing(op, [&](Connection& c) {
    Committed out;
    Commit commit(c, chain_, host_.unix_ms());
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

Result<> Database::purge(const Op& op, Version through) {
  while (true) {
    auto more = writing(op, [&](Connection& c) { return purge_some(c, through); });
    if (!more.ok()) return more.error();
    if (!*more) return {};
  }
}

Result<storage::Copied> Database::backup(const Op& op, const std::string& path,
                                         const storage::CopyProgress& tell) {
  auto copied = reading(op, [&](Connection& c) { return copy_to(c, path, tell); });
  if (!copied.ok()) return copied.error();
  return std::move(*copied);
}

Result<storage::Copied> Database::verify(const Op& op, const storage::CopyProgress& tell) {
  auto verified = reading(op, [&](Connection& c) { return verify_all(c, tell); });
  if (!verified.ok()) return verified.error();
  return std::move(*verified);
}

Measured Database::measure(const Op& op) {
  // An open connection of this process would keep SQLite's view of the file alive during reopen().
  const std::lock_guard no_reopen(measuring_);
  auto counted = reading(op, [](Connection& c) {
    Measured out;
    count_rows(c, out);
    return out;
  });
  Measured out = counted.ok() ? *counted : Measured();
  look_at_files(path_, out);
  if (const int64_t moved = moved_at_unix_ms_; moved != 0) out.moved_at_unix_ms = moved;
  return out;
}

}  // namespace davit::storage_sqlite

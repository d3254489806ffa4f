// The plugin: it adds settings, life cycle, health and hints to a Database.
#include <filesystem>

#include <davit/outstanding.hpp>

#include "commit.hpp"
#include "database.hpp"
#include "database_health.hpp"
#include "gauges.hpp"
#include "loading.hpp"
#include "restore.hpp"
#include "schema.hpp"

namespace davit::storage_sqlite {

class StorageSqlite {
 public:
  using roles = Roles<storage::Role, storage::CopyRole, storage::MoveRole>;
  // Two writers that take turns, one mover of the journal, one measurement and three reads. A
  // backup counts as a read. Operators choose how many reads there are, and there is one at least.
  static constexpr uint32_t max_concurrency = 7, pool_threads_min = 5, pool_threads_max = 256;

  explicit StorageSqlite(Host host)
      : host_(host),
        path_(Settings(host).string("path", "")),
        health_(host),
        records_(host.counter("davit_storage_records_committed_total",
                              "Records that commits have written")),
        statuses_(host.counter("davit_storage_statuses_stored_total",
                               "Statuses that reports have written")),
        gauges_(host, Settings(host).milliseconds("measure_interval_ms", measure_interval),
                outstanding_) {
    if (path_ != "" && path_ != ":memory:" && path_[0] != '/') {
      Settings(host).reject("path", "must be an absolute path, or \":memory:\"");
    }
  }

  Result<> check(const Op&) {
    if (path_ != "") return Database::check(path_);
    auto directory = host_.state_directory(false);
    if (!directory.ok()) return directory.error();
    std::error_code unseen;
    if (std::filesystem::exists(*directory, unseen))
      return Database::check(*directory + "/davit.db");
    return inspect_new_folder(*directory);  // start creates it
  }

  Result<> start(const Op&) {
    auto path = is_observed(use_) ? file_if_there() : file();
    if (!path.ok()) return path.error();
    if (path->empty()) return Error{Code::failed_precondition, "there is no database"};
    auto opened = Database::open(host_, *path, use_);
    if (!opened.ok()) return opened.error();
    auto head = (*opened)->head(Op());
    if (!head.ok()) return head.error();
    {
      const std::lock_guard lock(database_mutex_);
      database_ = std::move(*opened);
    }
    if (*path != ":memory:" && use_ == Use::serve) gauges_.begin(open_database());
    host_.info("database open", {{"path", *path},
                                 {"head", to_string(head->head.version)},
                                 {"incarnation", to_string(head->head.incarnation)}});
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

  // All instances that looked this one up have stopped. A call of theirs that has not ended still
  // holds the database.
  Result<> stop(const Op& op) {
    gauges_.end();
    if (auto r = outstanding_.wait(host_, op); !r.ok()) return r;
    const std::lock_guard lock(database_mutex_);
    database_.reset();
    return {};
  }

  // They keep one transaction well below a second. The bytes are far below SQLite's own limit.
  static storage::Limits limits() {
    constexpr uint64_t bytes = 64 << 20;
    return {1'000, bytes, bytes, 10'000, bytes};
  }
  Result<Head> head(const Op& op) {
    return with(DatabaseHealth::reading, [&](Database& d) { return d.head(op); });
  }
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord& visit) {
    return with(DatabaseHealth::reading, [&](Database& d) { return d.read(op, request, visit); });
  }
  Result<Head> get(const Op& op, const GetRequest& request, const storage::VisitRecord& visit) {
    return with(DatabaseHealth::reading, [&](Database& d) { return d.get(op, request, visit); });
  }
  Result<StatusPage> statuses(const Op& op, const StatusRead& request,
                              const storage::VisitStatus& visit) {
    return with(DatabaseHealth::reading,
                [&](Database& d) { return d.statuses(op, request, visit); });
  }
  Result<bool> agents(const Op& op, const AgentRead& request, const storage::VisitProgress& visit) {
    return with(DatabaseHealth::reading, [&](Database& d) { return d.agents(op, request, visit); });
  }
  Result<> history(const Op& op, const storage::VisitCursor& visit) {
    auto r = with(DatabaseHealth::reading, [&](Database& d) { return d.history(op); });
    if (!r.ok()) return r.error();
    (void)std::all_of(r->begin(), r->end(), visit);
    return {};
  }
  Result<> progress(const Op& op, const Progress& progress) {
    auto r = with(DatabaseHealth::writing, [&](Database& d) { return d.progress(op, progress); });
    if (r.ok()) hints_.tell(DAVIT_HINT_AGENTS);
    return r;
  }

  Result<std::vector<GroupResult>> commit(const Op& op, const std::vector<Group>& groups) {
    auto r = with(DatabaseHealth::writing, [&](Database& d) { return d.commit(op, groups); });
    if (r.ok()) {
      if (r->records != 0) hints_.tell(DAVIT_HINT_RECORDS);
      records_.add(static_cast<double>(r->records));
      return std::move(r->results);
    }
    // The result of every group is known: SQLite has rolled all of them back.
    if (r.error().code != Code::resource_exhausted) return r.error();
    return std::vector<GroupResult>(groups.size(), {{}, {}, {}, r.error()});
  }

  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    auto r = with(DatabaseHealth::writing, [&](Database& d) { return d.report(op, statuses); });
    if (!r.ok()) return r.error();
    if (*r != 0) hints_.tell(DAVIT_HINT_STATUSES);
    statuses_.add(static_cast<double>(*r));
    return {};
  }

  Result<> maintain(const Op& op, const storage::Maintain& what) {
    return with(DatabaseHealth::writing, [&](Database& d) -> Result<> {
      if (!what.purge && !what.forgets()) return d.tidy();
      if (what.forgets()) {
        if (auto r = d.forget(op, what.forget); !r.ok()) return r;
      }
      return what.purge ? d.purge(op, what.purge_through) : Result<>();
    });
  }

  Result<storage::Copied> backup(const Op& op, const std::string& path,
                                 const storage::CopyProgress& tell) {
    const auto ticket = outstanding_.begin();
    const auto database = open_database();
    if (!database) return closed();
    auto copied = ended_with(op, [&] { return database->backup(op, path, until(op, tell)); });
    if (copied.ok()) {
      host_.info("backup made", {{"path", path},
                                 {"bytes", std::to_string(copied->bytes)},
                                 {"head", to_string(copied->head.version)}});
    } else {
      host_.warn("backup failed", {{"path", path}, {"error", copied.error().message}});
    }
    return copied;
  }
  Result<storage::Copied> verify(const Op& op, const std::string& path,
                                 const storage::CopyProgress& tell) {
    const auto ticket = outstanding_.begin();
    const auto database = open_database();
    if (!database) return closed();
    std::error_code ignored;
    // Closing a second descriptor of the open file would drop SQLite's locks on it.
    const auto own = file();
    if (path.empty() || (own.ok() && std::filesystem::equivalent(path, *own, ignored)))
      return ended_with(op, [&] { return database->verify(op, until(op, tell)); });
    return ended_with(op, [&] { return verify_file(path, until(op, tell)); });
  }
  Result<storage::Restored> restore(const Op&, const std::string& path) {
    if (open_database()) return Error{Code::unavailable, "the database is open: stop davit first"};
    auto own = file();
    if (!own.ok()) return own.error();
    if (*own == ":memory:")
      return Error{Code::failed_precondition, "a database in memory cannot be restored"};
    std::error_code error;
    const auto real = std::filesystem::canonical(*own, error);  // the file, not a link to it
    return storage_sqlite::restore(error ? *own : real.string(), path, host_.unix_ms());
  }

  Result<> observe(const Op&, bool alone) {
    use_ = alone ? Use::observe_alone : Use::observe;
    return {};
  }
  Result<std::string> begin(const Op&, storage::LoadBegin how) {
    if (open_database()) return Error{Code::failed_precondition, "begin before start"};
    auto path = how.look ? file_if_there() : file();
    if (!path.ok()) return path.error();
    if (path->empty()) return std::string();
    auto note = begin_loading(*path, how);
    if (note.ok() && !how.look) use_ = Use::load;
    return note;
  }
  Result<> load(const Op& op, const storage::Load& what) {
    return with(DatabaseHealth::writing, [&](Database& d) { return d.load(op, what); });
  }
  Result<> finish(const Op& op, const storage::LoadEnd& end) {
    return with(DatabaseHealth::writing, [&](Database& d) { return d.finish(op, end); });
  }

  davit_storage_watch* watch(storage::Hint hint) { return hints_.watch(std::move(hint)); }
  void unwatch(davit_storage_watch* watch) { hints_.unwatch(watch); }

 private:
  static constexpr std::chrono::seconds measure_interval{30};
  // A copy asks between its steps whether to go on: also whether its caller still waits.
  storage::CopyProgress until(const Op& op, const storage::CopyProgress& tell) const {
    return [this, op, tell](uint64_t done, uint64_t total) {
      return !given_up(op, host_.now()) && tell(done, total);
    };
  }
  template <class Work>
  Result<storage::Copied> ended_with(const Op& op, Work work) const {
    auto copied = work();
    if (copied.ok() || copied.error().code != Code::cancelled) return copied;
    auto why = given_up(op, host_.now());
    return why ? std::move(*why) : copied.error();
  }
  static Error closed() { return {Code::unavailable, "the database is not open"}; }
  static Error only_read() {
    return {Code::failed_precondition, "the database is open for reading only"};
  }
  // The configured file, or the one in the state directory; empty: there is no such directory yet.
  Result<std::string> file_if_there() const {
    if (path_ != "") return path_;
    auto directory = host_.state_directory(false);
    if (!directory.ok()) return directory.error();
    std::error_code unseen;
    return std::filesystem::exists(*directory, unseen) ? *directory + "/davit.db" : std::string();
  }
  // The configured file, or the one in the state directory, which is created.
  Result<std::string> file() const {
    if (path_ != "") return path_;
    auto directory = host_.state_directory(true);
    if (!directory.ok()) return directory.error();
    return *directory + "/davit.db";
  }
  std::shared_ptr<Database> open_database() {
    const std::lock_guard lock(database_mutex_);
    return database_;
  }

  template <class Work>
  auto with(DatabaseHealth::Doing doing, Work work) -> decltype(work(std::declval<Database&>())) {
    const auto ticket = outstanding_.begin();
    const auto database = open_database();
    if (!database) return closed();
    if (doing == DatabaseHealth::writing && is_observed(use_)) return only_read();
    auto r = work(*database);
    health_.note(doing, r.ok() ? nullptr : &r.error());
    if (doing == DatabaseHealth::writing && database->journal_is_due()) move_journal(database);
    if (!r.ok()) return for_callers(r.error());
    return r;
  }
  // The log and the health name the file. Callers such as agents learn nothing of this machine.
  Error for_callers(Error error) const {
    const std::string file = "database \"" + error.where + "\": ";
    if (error.where.empty() || !error.message.starts_with(file)) return error;
    error.message.replace(0, file.size(), "storage \"" + std::string(host_.instance()) + "\": ");
    error.where.clear();
    return error;
  }
  // Runs in the background; no call waits for it. The ticket is released last, so once stop has
  // waited, nothing has the database open.
  void move_journal(std::shared_ptr<Database> database) {
    host_.blocking({}, [this, ticket = outstanding_.begin(), database = std::move(database)] {
      const auto moved = database->move_journal();
      if (!moved.ok()) health_.note(DatabaseHealth::writing, &moved.error());
    });
  }

  const Host host_;
  const std::string path_;  // empty: a file in the state directory
  std::atomic<Use> use_{Use::serve};
  DatabaseHealth health_;
  const Metric records_, statuses_;
  std::mutex database_mutex_;
  std::shared_ptr<Database> database_;  // every call shares ownership
  Outstanding outstanding_;
  Gauges gauges_;
  storage::Hints hints_;
};

}  // namespace davit::storage_sqlite

DAVIT_PLUGIN(davit::storage_sqlite::StorageSqlite, "storage_sqlite", DAVIT_PLUGIN_VERSION,
             "keeps desired state and statuses in one SQLite file")

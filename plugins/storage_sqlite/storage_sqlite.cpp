// The plugin: settings, life, health and hints around a Database.
#include <filesystem>

#include <davit/outstanding.hpp>

#include "commit.hpp"
#include "database.hpp"
#include "trouble.hpp"

namespace davit::storage_sqlite {

class StorageSqlite {
 public:
  using roles = Roles<storage::Role>;
  // Two writers that take turns, one mover of the journal, three reads.
  static constexpr uint32_t max_concurrency = 6;
  static constexpr uint32_t max_group_records = storage_sqlite::max_group_records;

  explicit StorageSqlite(Host host)
      : host_(host),
        path_(Settings(host).string("path", "")),
        trouble_(host),
        records_(host.counter("davit_storage_records_committed_total",
                              "Records that commits have written")),
        statuses_(host.counter("davit_storage_statuses_stored_total",
                               "Statuses that reports have written")) {
    if (path_ != "" && path_ != ":memory:" && path_[0] != '/') {
      Settings(host).reject("path", "must be an absolute path, or \":memory:\"");
    }
  }

  Result<> check(const Op&) {
    if (path_ != "") return Database::check(path_);
    auto directory = host_.state_directory(false);
    if (!directory.ok()) return directory.error();
    // start makes the directory
    return std::filesystem::exists(*directory) ? Database::check(*directory + "/davit.db")
                                               : Result<>();
  }

  Result<> start(const Op&) {
    std::string path = path_;
    if (path == "") {
      auto directory = host_.state_directory(true);
      if (!directory.ok()) return directory.error();
      path = *directory + "/davit.db";
    }
    auto opened = Database::open(host_, path);
    if (!opened.ok()) return opened.error();
    database_ = std::move(*opened);
    auto head = database_->head(Op());
    if (!head.ok()) return head.error();
    host_.info("database open", {{"path", path},
                                 {"head", std::to_string(head->head.version)},
                                 {"incarnation", std::to_string(head->head.incarnation)}});
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

  // Whoever looked this instance up has stopped before, so no call is under way.
  Result<> stop(const Op& op) {
    if (auto r = outstanding_.wait(host_, op); !r.ok()) return r;
    database_.reset();
    return {};
  }

  Result<Head> head(const Op& op) {
    return with(Trouble::reading, [&] { return database_->head(op); });
  }
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord& visit) {
    return with(Trouble::reading, [&] { return database_->read(op, request, visit); });
  }
  Result<Head> get(const Op& op, const Query& query, const storage::VisitRecord& visit) {
    return with(Trouble::reading, [&] { return database_->get(op, query, visit); });
  }
  Result<uint64_t> statuses(const Op& op, const Scope& scope, uint64_t after, uint32_t limit,
                            const storage::VisitStatus& visit) {
    return with(Trouble::reading,
                [&] { return database_->statuses(op, scope, after, limit, visit); });
  }
  Result<> agents(const Op& op, const storage::VisitProgress& visit) {
    return with(Trouble::reading, [&] { return database_->agents(op, visit); });
  }
  Result<> history(const Op& op, const storage::VisitCursor& visit) {
    auto r = with(Trouble::reading, [&] { return database_->history(op); });
    if (!r.ok()) return r.error();
    (void)std::all_of(r->begin(), r->end(), visit);
    return {};
  }
  Result<> progress(const Op& op, const Progress& progress) {
    return with(Trouble::writing, [&] { return database_->progress(op, progress); });
  }

  Result<std::vector<GroupResult>> commit(const Op& op, const std::vector<Group>& groups) {
    auto r = with(Trouble::writing, [&] { return database_->commit(op, groups); });
    if (r.ok()) {
      if (r->records != 0) hint();
      records_.add(static_cast<double>(r->records));
      return std::move(r->results);
    }
    // Something is known of every group: SQLite has rolled all of them back.
    if (r.error().code != Code::resource_exhausted) return r.error();
    return std::vector<GroupResult>(groups.size(), {0, 0, r.error()});
  }

  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    auto r = with(Trouble::writing, [&] { return database_->report(op, statuses); });
    if (!r.ok()) return r.error();
    statuses_.add(static_cast<double>(*r));
    return {};
  }

  Result<> maintain(const Op& op, const storage::Maintain& what) {
    return with(Trouble::writing, [&]() -> Result<> {
      if (!what.purge && !what.forgets()) return database_->tidy();
      if (what.forgets()) {
        if (auto r = database_->forget(op, what.forget); !r.ok()) return r;
      }
      return what.purge ? database_->purge(op, what.purge_through) : Result<>();
    });
  }

  void watch(std::function<void()> hint) {
    const std::lock_guard lock(hint_mutex_);
    hint_ = std::move(hint);
  }

 private:
  template <class Work>
  auto with(Trouble::Doing doing, Work work) -> decltype(work()) {
    if (!database_) return Error{Code::unavailable, "the database is not open", {}, {}};
    auto r = work();
    trouble_.note(doing, r.ok() ? nullptr : &r.error());
    if (doing == Trouble::writing && database_->journal_is_due()) move_journal();
    return r;
  }
  // In the background: nobody waits for it.
  void move_journal() {
    host_.blocking({}, [this, ticket = outstanding_.begin()] {
      const auto moved = database_->move_journal();
      if (!moved.ok()) trouble_.note(Trouble::writing, &moved.error());
    });
  }
  // With the lock held, so that none comes after watch() has ended it.
  void hint() {
    const std::lock_guard lock(hint_mutex_);
    if (hint_) hint_();
  }

  const Host host_;
  const std::string path_;  // empty: in the state directory
  Trouble trouble_;
  const Metric records_, statuses_;
  std::unique_ptr<Database> database_;
  Outstanding outstanding_;
  std::mutex hint_mutex_;
  std::function<void()> hint_;
};

}  // namespace davit::storage_sqlite

DAVIT_PLUGIN(davit::storage_sqlite::StorageSqlite, "storage_sqlite", DAVIT_PLUGIN_VERSION,
             "keeps desired state and statuses in one SQLite file")

// The plugin's class: it adds settings, life cycle, health and hints to a Database. It is a header,
// so that the torture can make a plugin of it whose numbers come from a sequence.
#pragma once

#include <davit/outstanding.hpp>
#include <davit/storage_election.hpp>
#include <davit/storage_intents.hpp>
#include <davit/storage_move.hpp>
#include <davit/storage_schema.hpp>

#include "database.hpp"
#include "listener.hpp"
#include "trouble.hpp"

namespace davit::storage_postgres {

class StoragePostgres {
 public:
  using roles = Roles<storage::Role, storage::ElectionRole, storage::IntentsRole, storage::MoveRole,
                      storage::SchemaRole>;
  // Each call has a connection for its time, so this is how many there are, beside the listener's.
  static constexpr uint32_t max_concurrency = 8, pool_threads_min = 2, pool_threads_max = 256;

  explicit StoragePostgres(Host host)
      : host_(host),
        settings_(PostgresSettings::read(host)),
        trouble_(host),
        records_(host.counter("davit_storage_records_committed_total",
                              "Records that commits have written")),
        statuses_(host.counter("davit_storage_statuses_stored_total",
                               "Statuses that reports have written")) {}

  Result<> check(const Op& op) {
    Database database(host_, settings_);
    return database.check(
        op, settings_.create_schema ? Database::Missing::accepted : Database::Missing::refused);
  }

  Result<> start(const Op& op) {
    auto database = std::make_shared<Database>(host_, settings_, use_);
    const bool alone = use_ == Use::load || alone_;
    using Presence = Database::Presence;
    auto taken = database->take(op, alone ? Presence::alone : Presence::shared);
    if (!taken.ok()) return taken;
    if (settings_.create_schema && use_ == Use::serve) {
      auto made = create_schema(*database, op);
      if (!made.ok()) return made;
    }
    if (auto r = database->check(op, Database::Missing::refused); !r.ok()) return r;
    const auto head = database->head(op);
    if (!head.ok()) return head.error();
    if (!head->head.incarnation)
      return Error{Code::failed_precondition, settings_.target + ": nothing was ever stored there"};
    for (const auto& warning : database->warnings()) host_.warn(warning);
    if (use_ == Use::serve) listen(*database);
    {
      const std::lock_guard lock(database_mutex_);
      database_ = std::move(database);
    }
    host_.info("database open", {{"database", settings_.target},
                                 {"schema", settings_.schema},
                                 {"head", to_string(head->head.version)},
                                 {"incarnation", to_string(head->head.incarnation)}});
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

  // All instances that looked this one up have stopped. A call of theirs that has not ended still
  // holds the database.
  Result<> stop(const Op& op) {
    if (const auto database = open_database()) database->close();
    if (listener_) listener_->end();
    if (auto r = outstanding_.wait(host_, op); !r.ok()) return r;
    if (const auto database = open_database()) database->leave(op);
    const std::lock_guard lock(database_mutex_);
    listener_.reset();
    database_.reset();
    return {};
  }

  // They keep one transaction well below a second, and a statement far below PostgreSQL's limit of
  // a gibibyte: payloads are sent in hexadecimal form.
  static storage::Limits limits() {
    constexpr uint64_t bytes = 64 << 20;
    return {1'000, bytes, bytes, 10'000, bytes};
  }
  Result<Head> head(const Op& op) {
    return reading([&](Database& d) { return d.head(op); });
  }
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord& visit) {
    return reading([&](Database& d) { return d.read(op, request, visit); });
  }
  Result<Head> get(const Op& op, const GetRequest& request, const storage::VisitRecord& visit) {
    return reading([&](Database& d) { return d.get(op, request, visit); });
  }
  Result<StatusPage> statuses(const Op& op, const StatusRead& request,
                              const storage::VisitStatus& visit) {
    return reading([&](Database& d) { return d.statuses(op, request, visit); });
  }
  Result<bool> agents(const Op& op, const AgentRead& request, const storage::VisitProgress& visit) {
    return reading([&](Database& d) { return d.agents(op, request, visit); });
  }
  Result<> history(const Op& op, const storage::VisitCursor& visit) {
    auto r = reading([&](Database& d) { return d.history(op); });
    if (!r.ok()) return r.error();
    (void)std::all_of(r->begin(), r->end(), visit);
    return {};
  }
  Result<> progress(const Op& op, const Progress& progress) {
    if (use_ == Use::observe) return only_read();
    const auto ticket = outstanding_.begin();  // until the hint is told
    auto r = writing([&](Database& d) { return d.progress(op, progress); });
    if (r.ok()) tell(DAVIT_HINT_AGENTS);
    return r;
  }
  Result<std::vector<GroupResult>> commit(const Op& op, const std::vector<Group>& groups) {
    if (use_ == Use::observe) return only_read();
    const auto ticket = outstanding_.begin();
    auto r = writing([&](Database& d) { return d.commit(op, groups); });
    if (!r.ok()) {
      // The result of every group is known: the server has rolled all of them back.
      if (r.error().code != Code::resource_exhausted) return r.error();
      return std::vector<GroupResult>(groups.size(), {0, 0, 0, r.error()});
    }
    if (r->records != 0) tell(DAVIT_HINT_RECORDS);
    records_.add(static_cast<double>(r->records));
    return std::move(r->results);
  }
  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    if (use_ == Use::observe) return only_read();
    const auto ticket = outstanding_.begin();
    auto r = writing([&](Database& d) { return d.report(op, statuses); });
    if (!r.ok()) return r.error();
    if (*r != 0) tell(DAVIT_HINT_STATUSES);
    statuses_.add(static_cast<double>(*r));
    return {};
  }
  Result<> maintain(const Op& op, const storage::Maintain& what) {
    if (use_ == Use::observe) return only_read();
    return writing([&](Database& d) -> Result<> {
      if (!what.purge && !what.forgets()) {
        auto tidied = d.tidy(op);
        return tidied.ok() ? d.forget_intents(op) : tidied;
      }
      if (what.forgets()) {
        if (auto r = d.forget(op, what.forget); !r.ok()) return r;
      }
      return what.purge ? d.purge(op, what.purge_through) : Result<>();
    });
  }

  bool leads() const { return listener_ && listener_->leads(); }
  Result<> open_intents(const Op& op, uint64_t after, uint32_t limit,
                        const storage::VisitIntent& visit) {
    auto r = reading([&](Database& d) { return d.open_intents(op, after, limit); });
    if (!r.ok()) return r.error();
    (void)std::all_of(r->begin(), r->end(), visit);
    return {};
  }
  Result<> settle_intent(const Op& op, const storage::IntentOutcome& outcome) {
    if (use_ == Use::observe) return only_read();
    return writing([&](Database& d) { return d.settle_intent(op, outcome); });
  }

  Result<> observe(const Op&, bool alone) {
    use_ = Use::observe;
    alone_ = alone;
    return {};
  }
  Result<std::string> begin(const Op& op, storage::LoadBegin how) {
    if (open_database()) return Error{Code::failed_precondition, "begin before start"};
    Database database(host_, settings_, Use::load);
    const bool makes = settings_.create_schema;
    const auto missing_is = makes ? Database::Missing::accepted : Database::Missing::refused;
    if (auto r = database.check(op, missing_is); !r.ok()) return r.error();
    if (how.look && !database.check(op, Database::Missing::refused).ok()) return std::string();
    if (makes) {
      if (auto r = create_schema(database, op); !r.ok()) return r.error();
    }
    auto note = database.begin_load(op, how);
    if (note.ok() && !how.look) use_ = Use::load;
    return note;
  }
  Result<> load(const Op& op, const storage::Load& what) {
    return writing([&](Database& d) { return d.load(op, what); });
  }
  Result<> finish(const Op& op, const storage::LoadEnd& end) {
    return writing([&](Database& d) { return d.finish_load(op, end); });
  }

  Result<std::vector<std::string>> migrate(const Op& op, bool dry_run) {
    Database database(host_, settings_);
    return database.migrate(op, dry_run);
  }

  davit_storage_watch* watch(storage::Hint hint) { return hints_.watch(std::move(hint)); }
  void unwatch(davit_storage_watch* watch) { hints_.unwatch(watch); }

 private:
  // An empty database gets its tables. What is there already is check's matter.
  Result<> create_schema(Database& database, const Op& op) {
    const auto missing = database.check(op, Database::Missing::accepted);
    if (!missing.ok()) return missing;
    if (database.check(op, Database::Missing::refused).ok()) return {};
    auto steps = database.migrate(op, false);
    if (!steps.ok()) return steps.error();
    host_.info("schema made", {{"database", settings_.target}, {"schema", settings_.schema}});
    return {};
  }
  void listen(Database& database) {
    listener_.emplace(host_, database.pool(), settings_.schema,
                      [this](uint32_t what) { hints_.tell(what); });
    listener_->begin(database.hand_over_presence());
  }
  static Error only_read() {
    return {Code::failed_precondition, "the store is open for reading only"};
  }
  void tell(uint32_t what) {
    hints_.tell(what);
    if (listener_) listener_->tell(what);
  }
  std::shared_ptr<Database> open_database() {
    const std::lock_guard lock(database_mutex_);
    return database_;
  }
  template <class Work>
  auto reading(Work work) -> decltype(work(std::declval<Database&>())) {
    return with(Trouble::Access::read, std::move(work));
  }
  template <class Work>
  auto writing(Work work) -> decltype(work(std::declval<Database&>())) {
    return with(Trouble::Access::write, std::move(work));
  }
  template <class Work>
  auto with(Trouble::Access access, Work work) -> decltype(work(std::declval<Database&>())) {
    const auto ticket = outstanding_.begin();
    const auto database = open_database();
    if (!database) return Error{Code::unavailable, "the database is not open"};
    auto r = work(*database);
    trouble_.note(access, r.ok() ? nullptr : &r.error());
    if (!r.ok()) return for_callers(r.error());
    return r;
  }
  // The log and the health name the database. Callers such as agents learn nothing of it.
  Error for_callers(Error error) const {
    const std::string target = error.where + ": ";
    if (error.where.empty() || !error.message.starts_with(target)) return error;
    const std::string what = error.message.substr(target.size());
    // libpq's words name the host.
    error.message =
        "storage \"" + std::string(host_.instance()) + "\": " +
        (what.find("connection to server") == std::string::npos ? what
                                                                : "the database cannot be reached");
    error.where.clear();
    return error;
  }

  const Host host_;
  const PostgresSettings settings_;
  Use use_ = Use::serve;  // of the next start
  bool alone_ = false;    // when it observes
  Trouble trouble_;
  const Metric records_, statuses_;
  storage::Hints hints_;
  std::mutex database_mutex_;
  std::shared_ptr<Database> database_;  // every call shares ownership
  std::optional<Listener> listener_;    // from start to stop
  Outstanding outstanding_;
};

}  // namespace davit::storage_postgres

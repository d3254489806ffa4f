#include "agents.hpp"
#include "commit.hpp"
#include "purge.hpp"
#include "records.hpp"
#include "statuses.hpp"
#include "transactions.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t commits_between_tidying = 256;
constexpr uint64_t first_statistics = 8;  // calls that wrote something
// How long a commit whose connection was lost may ask what became of it.
constexpr std::chrono::nanoseconds settle_time = 10s;

Error loading() {
  return {Code::failed_precondition, "the store is loading a copy"};
}

Error invalid_limit(const char* what) {
  return {Code::invalid_argument, std::string("a page has at least one ") + what, "limit"};
}

void refuse(const Result<>& judged) {
  if (!judged.ok()) throw Fault(judged.error());
}

}  // namespace

Database::Database(const Host& host, const PostgresSettings& settings, Use use)
    : host_(host),
      settings_(settings),
      use_(use),
      schema_(settings.schema),
      pool_(host, settings),
      watchman_(host),
      session_source_{host_, settings_, pool_, watchman_},
      loads_(use == Use::load) {}

Error Database::for_log(Error error) const {
  error.message = settings_.target + ": " + error.message;
  error.where = settings_.target;
  return error;
}

Result<> Database::check(const Op& op, Missing missing_is) {
  return guarded(op, [&]() -> Result<> {
    auto lent = pool_.lend(op);
    if (!lent.ok()) throw Fault(lent.error());
    Session& session = **lent;
    const Watchman::Watch watch(watchman_, session, op);
    fsync_ = session.server().fsync;
    const bool makes = missing_is == Missing::accepted && !schema_.look(session).exists;
    refuse(makes ? schema_.may_create(session) : schema_.check(session));
    if (makes) return {};
    (void)judged(begin_on_store(session, Session::Kind::read, {0ms, settings_.lock_timeout}));
    session.roll_back();
    return {};
  });
}

Result<std::vector<std::string>> Database::migrate(const Op& op, bool dry_run) {
  return guarded(op, [&]() -> Result<std::vector<std::string>> {
    auto lent = pool_.lend(op);
    if (!lent.ok()) throw Fault(lent.error());
    const Watchman::Watch watch(watchman_, **lent, op);
    auto steps = schema_.migrate(**lent, dry_run, {0ms, settings_.lock_timeout});
    if (!steps.ok()) throw Fault(steps.error());
    return steps;
  });
}

std::vector<std::string> Database::warnings() const {
  if (fsync_) return {};
  return {"the server runs with fsync = off: a loss of power loses commits that were answered"};
}

// A store that is loading is nobody's but of those who load it.
StoreState Database::judged(StoreState state) const {
  if (state.loading && use_ != Use::load) {
    throw Fault({Code::failed_precondition,
                 "a copy into it is not complete: repeat `davit storage copy` with --finish, or "
                 "drop its schema"});
  }
  return state;
}

// As broken_by. Who observes begins no incarnation, and needs none: what it reads is compared
// afterwards. Yet nothing that was read may be lost meanwhile.
std::string Database::broken(const StoreState& state, const Head& seen) const {
  if (use_ != Use::observe) return broken_by(state, seen);
  StoreState unbroken = state;
  unbroken.unbroken = true;
  const std::string why = broken_by(unbroken, seen);
  if (!why.empty()) throw Fault({Code::aborted, why + ": begin the copy anew"});
  return {};
}

// Begins an incarnation, unless another process has.
void Database::renew(const Op& op) {
  auto done = writing(
      op, {}, [](Session&) {}, [](Session&, Head&) { return std::monostate(); });
  if (!done.ok()) throw Fault(done.error());
}

// Commits. When the connection is lost meanwhile, another one finds out what became of it.
void Database::end_commit(Call& call, const std::string& batch) {
  call.watch().no_way_back();
  try {
    call.session().commit();
  } catch (const Fault& fault) {
    if (fault.kind() != Fault::Kind::lost || batch.empty()) throw;
    Error error = fault.error();
    call.end();
    try {
      if (settle(batch)) return;
      error.message += "; nothing was committed";
    } catch (const Fault& unsettled) {
      error.message += "; whether the commit was kept is not known (" + unsettled.error().message +
                       "): repeat it with the same request id";
    }
    throw Fault(error);
  }
}

// True: the commit was kept. It held the row `store` until it ended, so whoever has the row knows.
bool Database::settle(const std::string& batch) {
  const Operation operation((host_.now() + settle_time).count());
  const Op op = operation.op();
  Call call(session_source_, op);
  (void)judged(call.begin(Session::Kind::write));
  (void)judged(lock_store(call.session()));
  return was_kept(call.session(), batch);
}

Result<Head> Database::head(const Op& op) {
  return reading(op, [](Session&, const Head& head) { return head; });
}

Result<History> Database::history(const Op& op) {
  return reading(op, [&](Session& session, const Head& head) {
    return chains_.of(session, head.head.incarnation)->history(head.head.version);
  });
}

Result<Page> Database::read(const Op& op, const ReadRequest& q, const storage::VisitRecord& visit) {
  if (q.limit == 0) return invalid_limit("record");
  Page page;
  auto rows = reading(op, [&](Session& session, const Head& head) {
    if (q.cursor.version) {
      const auto chain = chains_.of(session, head.head.incarnation);
      refuse(chain->accept(q.cursor, head.head.version));
    }
    refuse(storage::above_purge_mark(q.cursor.version, q.dead_after, head.purged_through));
    page.head = head;
    return read_page(session, q);
  });
  if (!rows.ok()) return rows.error();
  page.more = rows->more;
  page.next_version = page.more ? q.cursor.version : page.head.head.version;
  Record record;
  for (const auto& row : rows->rows) {
    if (auto over = given_up(op, host_.now())) return std::move(*over);
    fill_record(row, record);
    if (page.more) page.next_version = record.version;
    if (visit(record)) continue;
    page.more = true;  // the next page begins after this record
    page.next_version = record.version;
    break;
  }
  return page;
}

Result<Head> Database::get(const Op& op, const GetRequest& request,
                           const storage::VisitRecord& visit) {
  Head out;
  auto found = reading(op, [&](Session& session, const Head& head) {
    out = head;
    return find_records(session, request);
  });
  if (!found.ok()) return found.error();
  Record record;
  std::optional<Error> over;
  found->visit([&](const pqxx::row& row) {
    over = given_up(op, host_.now());
    if (over) return false;
    fill_record(row, record);
    return visit(record);
  });
  if (over) return std::move(*over);
  return out;
}

Result<StatusPage> Database::statuses(const Op& op, const StatusRead& q,
                                      const storage::VisitStatus& visit) {
  if (q.limit == 0) return invalid_limit("status");
  StatusPage page;
  auto rows = reading(op, [&](Session& session, const Head& head) {
    if (q.cursor.version) {
      const auto chain = chains_.of(session, head.head.incarnation);
      refuse(chain->accept_status(q.cursor, head.status_head));
    }
    page.head = head;
    return read_status_page(session, q);
  });
  if (!rows.ok()) return rows.error();
  page.more = rows->more;
  page.next = {page.head.head.incarnation, page.more ? q.cursor.version : page.head.status_head};
  Status status;
  for (const auto& row : rows->rows) {
    if (auto over = given_up(op, host_.now())) return std::move(*over);
    fill_status(row, status);
    if (page.more) page.next.version = status.status_version;
    if (visit(status)) continue;
    page.more = true;
    page.next.version = status.status_version;
    break;
  }
  return page;
}

Result<bool> Database::agents(const Op& op, const AgentRead& q,
                              const storage::VisitProgress& visit) {
  if (q.limit == 0) return invalid_limit("agent");
  auto found = reading(op, [&](Session& session, const Head&) { return read_agents(session, q); });
  if (!found.ok()) return found.error();
  for (size_t i = 0; i < found->size(); ++i) {
    if (i == q.limit || !visit((*found)[i])) return true;
  }
  return false;
}

Result<Database::Committed> Database::commit(const Op& op, const std::vector<Group>& groups) {
  if (loads_) return loading();
  CommitBatch batch(groups, new_batch_id());
  const bool tidies = commits_ % commits_between_tidying == commits_between_tidying - 1;
  auto results = writing(
      op, batch.id(), [&](Session& session) { batch.wait(session); },
      [&](Session& session, Head& head) {
        auto out = batch.carry_out(session, *chains_.of(session, head.head.incarnation), head);
        if (tidies) forget_requests(session, head.head.version);
        return out;
      });
  if (!results.ok()) return results.error();
  count_write(op, commits_, "records");
  return Committed{std::move(*results), batch.records()};
}

// As long as PostgreSQL has no statistics of a table, it takes an index of kind and region alone
// for as good as that of the key, and reads all records of a region for each one that it looks for.
// Autovacuum gathers them within minutes; this is earlier. Without the right to it nothing happens.
void Database::count_write(const Op& op, std::atomic<uint64_t>& writes, const char* table) {
  const uint64_t written = ++writes;
  if (written != first_statistics && written % commits_between_tidying != 0) return;
  (void)guarded(op, [&]() -> Result<> {
    auto lent = pool_.lend(op);
    if (!lent.ok()) throw Fault(lent.error());
    const Watchman::Watch watch(watchman_, **lent, op);
    const auto known = (*lent)->script(
        "SELECT EXISTS (SELECT FROM pg_stats WHERE schemaname = current_schema() AND "
        "tablename = " +
        quoted_text(table) + ")");
    if (!known[0][0].as<bool>()) (*lent)->script(std::string("ANALYZE (SKIP_LOCKED) ") + table);
    return {};
  });
}

Result<size_t> Database::report(const Op& op, const std::vector<Status>& statuses) {
  if (loads_) return loading();
  StatusBatch batch(statuses, host_.unix_ms());
  auto stored = writing(
      op, {}, [&](Session& session) { batch.wait(session); },
      [&](Session& session, Head& head) {
        return batch.carry_out(session, *chains_.of(session, head.head.incarnation), head);
      });
  if (stored.ok()) count_write(op, reports_, "statuses");
  return stored;
}

Result<> Database::progress(const Op& op, const Progress& progress) {
  return apart(op, [&](Session& session) { store_progress(session, progress); });
}

Result<> Database::forget(const Op& op, const storage::Maintain::ForgetAgent& agent) {
  return apart(op, [&](Session& session) { forget_agent(session, agent); });
}

Result<> Database::purge(const Op& op, Version through) {
  while (true) {
    PurgeBatch batch(through);
    auto more = writing(
        op, {}, [&](Session& session) { batch.wait(session); },
        [&](Session& session, Head& head) { return batch.carry_out(session, head); });
    if (!more.ok()) return more.error();
    if (!*more) return {};
  }
}

Result<> Database::tidy(const Op& op) {
  return apart(op, [&](Session& session) {
    const StoreState state = judged(lock_store(session));
    forget_requests(session, state.head.head.version);
  });
}

Result<> Database::forget_intents(const Op& op) {
  bool more = true;
  while (more) {
    auto r = apart(op, [&](Session& session) {
      more = storage_postgres::forget_intents(session, settings_.intent_retention);
    });
    if (!r.ok()) return r;
  }
  return {};
}

Result<std::vector<storage::Intent>> Database::open_intents(const Op& op, uint64_t after,
                                                            uint32_t limit) {
  return reading(op, [&](Session& session, const Head&) {
    return storage_postgres::open_intents(session, after, limit);
  });
}

Result<> Database::settle_intent(const Op& op, const storage::IntentOutcome& outcome) {
  return apart(op, [&](Session& session) { storage_postgres::settle_intent(session, outcome); });
}

}  // namespace davit::storage_postgres

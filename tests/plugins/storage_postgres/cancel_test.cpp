// Waits that end with their caller (S11), and locks of other programs.
#include <libpq-fe.h>

#include <future>
#include <thread>

#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Another program's transaction that holds what its statement has locked, until it ends.
class Locker {
 public:
  Locker(const std::string& connection, const std::string& statement)
      : connection_(PQconnectdb(connection.c_str())) {
    for (const std::string& text : {std::string("BEGIN"), statement}) {
      PGresult* result = PQexec(connection_, text.c_str());
      EXPECT_NE(PQresultStatus(result), PGRES_FATAL_ERROR) << PQerrorMessage(connection_);
      PQclear(result);
    }
  }
  ~Locker() { PQfinish(connection_); }
  void commit() { PQclear(PQexec(connection_, "COMMIT")); }
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;

 private:
  PGconn* connection_;
};

class Cancel : public OnDatabase {
 protected:
  std::unique_ptr<Locker> lock(const std::string& statement) {
    return std::make_unique<Locker>(shared_cluster().connection(database_), statement);
  }
  // Until the server shows so many sessions of davit's that wait for a lock.
  bool waiting(const std::string& count) {
    const auto until = steady_clock::now() + 20s;
    while (sql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
               "application_name = 'davit main' AND wait_event_type = 'Lock'") != count) {
      if (steady_clock::now() > until) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }
  std::string open_transactions() {
    return sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
        "application_name = 'davit main' AND xact_start IS NOT NULL");
  }
  // A commit that waits for a lock does not give up within a test.
  testing::Config patient() const {
    testing::Config out = config(shared_cluster(), database_);
    out.set({"lock_timeout_ms", 60'000});
    return out;
  }
};

constexpr const char* row_of_a = "SELECT 1 FROM davit.records WHERE id = 'a' FOR UPDATE";

TEST_F(Cancel, ACommitThatWaitsForAnotherProgramEndsWithItsCaller) {
  Life life(shared_cluster(), database_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  const auto held = lock(row_of_a);
  const Operation operation;
  auto call = std::async(std::launch::async, [&] {
    return life.client.under(operation).commit_now({group("a", "new")});
  });
  ASSERT_TRUE(waiting("1"));
  operation.cancel();
  const auto cancelled = call.get();
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().code, Code::cancelled) << cancelled.error().message;
  EXPECT_EQ(open_transactions(), "0") << "the connection was cut, and the statement still runs";
}

TEST_F(Cancel, ACommitWhoseDeadlinePassesIsStoppedByTheServer) {
  Life life(shared_cluster(), database_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  const auto held = lock(row_of_a);
  const Operation soon((life.host.host().now() + 300ms).count());
  const auto late = life.client.under(soon).commit_now({group("a", "new")});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::deadline_exceeded) << late.error().message;
  EXPECT_EQ(open_transactions(), "0") << "the connection was cut, and the statement still runs";
}

TEST_F(Cancel, AReadThatWaitsForAnotherProgramEndsWithItsCaller) {
  Life life(shared_cluster(), database_);
  const auto held = lock("LOCK TABLE davit.records IN ACCESS EXCLUSIVE MODE");
  const Operation operation;
  auto call = std::async(std::launch::async, [&] {
    return life.client.under(operation).read({}, [](const davit_record&) { return true; });
  });
  ASSERT_TRUE(waiting("1"));
  operation.cancel();
  const auto cancelled = call.get();
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().code, Code::cancelled) << cancelled.error().message;
}

TEST_F(Cancel, ALockThatLastsIsNamedAndNothingIsChanged) {
  testing::Config quick = config(shared_cluster(), database_);
  quick.set({"lock_timeout_ms", 200});
  Life life(quick);
  ASSERT_EQ(commit(life.client, group("a")), "");
  {
    const auto held = lock(row_of_a);
    const std::string error = commit(life.client, group("a", "new"));
    EXPECT_NE(error.find("another session holds a lock; see pg_locks"), std::string::npos) << error;
    held->commit();  // and returns when the server has freed the row
  }
  EXPECT_EQ(sql("SELECT head FROM davit.store"), "1");
  EXPECT_EQ(commit(life.client, group("a", "new")), "");
}

// Whoever waits for a row does not hold the counters.
TEST_F(Cancel, WhileOneCommitWaitsForARowOthersGoOn) {
  Life life(patient());
  ASSERT_EQ(commit(life.client, group("a")), "");
  auto held = lock(row_of_a);
  auto waits =
      std::async(std::launch::async, [&] { return commit(life.client, group("a", "new")); });
  ASSERT_TRUE(waiting("1"));
  const auto begin = steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(commit(life.client, group("b" + std::to_string(i))), "");
  EXPECT_TRUE(life.client.report_now({status("b1", "x")}).ok());
  EXPECT_LT(steady_clock::now() - begin, 30s) << "they have waited for the row";
  EXPECT_EQ(waits.wait_for(0s), std::future_status::timeout);
  held.reset();
  EXPECT_EQ(waits.get(), "");
  EXPECT_EQ(ids(life.client).back(), "a") << "it has the newest version";
}

// As somebody does who makes an index.
TEST_F(Cancel, WhileOneCommitWaitsForATableOthersGoOn) {
  Life life(patient());
  ASSERT_EQ(commit(life.client, group("a")), "");
  auto held = lock("LOCK TABLE davit.records IN SHARE MODE");
  auto waits =
      std::async(std::launch::async, [&] { return commit(life.client, group("a", "new")); });
  ASSERT_TRUE(waiting("1"));
  std::this_thread::sleep_for(1s);  // longer than it would try without a wait
  const auto begin = steady_clock::now();
  EXPECT_TRUE(life.client.report_now({status("a", "x")}).ok());
  EXPECT_LT(steady_clock::now() - begin, 30s) << "it has waited for the table";
  EXPECT_EQ(waits.wait_for(0s), std::future_status::timeout);
  held.reset();
  EXPECT_EQ(waits.get(), "");
}

// A row that appeared after the rows were locked, and that another session holds when the counters
// are held: the commit begins anew instead of waiting with the counters.
TEST_F(Cancel, ARowThatAppearedMeanwhileIsNotWaitedForWithTheCounters) {
  Life life(patient());
  ASSERT_EQ(commit(life.client, group("seed")), "");
  // Another server's commit of the same record.
  auto other = lock(
      "UPDATE davit.store SET head = 2, written_by = txid_current(); INSERT INTO davit.records "
      "SELECT "
      "kind, region, 'a', 2, live, name_taken, ns, 'a', state, author, request_id, committed_at, "
      "annotations, json, payload FROM davit.records");
  // It waits for the counters first, so that the row can be taken before the commit goes on.
  auto next =
      std::async(std::launch::async, [&] { return lock("SELECT 1 FROM davit.store FOR UPDATE"); });
  while (sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
             "current_database()") != "1")
    std::this_thread::sleep_for(5ms);
  auto waits = std::async(std::launch::async, [&] { return commit(life.client, group("a")); });
  ASSERT_TRUE(waiting("1"));
  other->commit();
  auto counters = next.get();
  auto row = lock(row_of_a);
  counters.reset();
  const auto begin = steady_clock::now();
  EXPECT_EQ(commit(life.client, group("b")), "");
  EXPECT_LT(steady_clock::now() - begin, 30s) << "the counters are held by who waits for the row";
  ASSERT_TRUE(waiting("1"));
  row.reset();
  EXPECT_EQ(waits.get(), "");
  EXPECT_EQ(ids(life.client), (std::vector<std::string>{"seed", "b", "a"}));
}

TEST_F(Cancel, ConnectionsAreSharedAndClosed) {
  const std::string connections =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
      "application_name "
      "= 'davit main'";
  {
    Life life(shared_cluster(), database_);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(commit(life.client, group("a")), "");
    EXPECT_EQ(sql(connections), "2") << "one for the calls, one that listens";
  }
  const auto until = steady_clock::now() + 10s;
  while (sql(connections) != "0" && steady_clock::now() < until) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(sql(connections), "0");
}

}  // namespace
}  // namespace davit::storage_postgres

// Who works with a store while it is copied. That a copy is right is the suite's matter.
#include "davit/storage_move.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

class MoveTest : public OnDatabase {
 protected:
  testing::Config settings() const { return config(shared_cluster(), database_); }
};

// An instance that copies.
struct Mover {
  explicit Mover(const testing::Config& config) : host("main", config), instance(plugin(), host) {
    EXPECT_TRUE(instance.create().ok() && instance.wire().ok());
  }
  ~Mover() {
    if (instance.started()) {
      EXPECT_TRUE(instance.stop().ok());
    }
  }
  storage::Moves moves() { return storage::Moves(instance.ref(DAVIT_STORAGE_MOVE)); }
  // "ok", or the error.
  std::string observe_alone() {
    EXPECT_TRUE(moves().observe(true).ok());
    const auto r = instance.start();
    return r.ok() ? "ok" : r.error().message;
  }
  std::string begin() {
    const auto r = moves().begin();
    return r.ok() ? "ok" : r.error().message;
  }
  testing::TestHost host;
  testing::Instance instance;
};

TEST_F(MoveTest, WhoWantsTheStoreAloneWaitsForItsServers) {
  {
    const Life server(shared_cluster(), database_);
    const std::string works = "a davit works with the store (session ";
    const std::string observed = Mover(settings()).observe_alone();
    EXPECT_TRUE(has(observed, works)) << observed;
    const std::string begun = Mover(settings()).begin();
    EXPECT_TRUE(has(begun, works)) << begun;
    Mover beside(settings());
    ASSERT_TRUE(beside.moves().observe(false).ok());
    EXPECT_TRUE(beside.instance.start().ok()) << "who only looks needs nobody to go away";
  }
  Mover alone(settings());
  EXPECT_EQ(soon("ok", [&] { return alone.observe_alone(); }), "ok");
  const std::string refused = start_error(settings());
  EXPECT_TRUE(has(refused, "`davit storage copy` has the store for itself: wait for it"))
      << refused;
}

TEST_F(MoveTest, OneCopyAtATimeLoadsAStore) {
  Mover first(settings());
  ASSERT_EQ(first.begin(), "ok");
  ASSERT_TRUE(first.instance.start().ok());
  Mover second(settings());
  const std::string refused = second.begin();
  EXPECT_TRUE(has(refused, "a davit works with the store")) << refused;
}

TEST_F(MoveTest, AStoreThatIsLoadingTakesNoChanges) {
  Mover copy(settings());
  ASSERT_EQ(copy.begin(), "ok");
  ASSERT_TRUE(copy.instance.start().ok());
  const storage::Client client(copy.host, copy.instance.ref(DAVIT_STORAGE));
  EXPECT_TRUE(has(commit(client, group("a")), "is loading a copy"));
  EXPECT_EQ(client.report_now({status("a", "")}).error().code, Code::failed_precondition);
}

// Without them a key is looked for among all records of its region.
TEST_F(MoveTest, ACopyHasStatisticsWhenItIsComplete) {
  const auto sql = [&](const std::string& text) { return shared_cluster().sql(text, database_); };
  sql("ALTER SYSTEM SET autovacuum = off");
  sql("SELECT pg_reload_conf()");
  Mover copy(settings());
  ASSERT_EQ(copy.begin(), "ok");
  ASSERT_TRUE(copy.instance.start().ok());
  storage::Load load;
  load.records = {record("a"), record("b")};
  load.records[0].version = Version(1);
  load.records[1].version = Version(2);
  load.statuses = {status("a", "said")};
  load.statuses[0].status_version = Version(1);
  ASSERT_TRUE(copy.moves().load(load).ok());
  ASSERT_TRUE(copy.moves().finish({{{Incarnation(7), Version(2)}}, Version(1)}).ok());
  EXPECT_EQ(sql("SELECT string_agg(DISTINCT tablename, ' ' ORDER BY tablename) FROM pg_stats WHERE "
                "schemaname = 'davit' AND tablename IN ('records', 'statuses')"),
            "records statuses");
  sql("ALTER SYSTEM RESET autovacuum");
  sql("SELECT pg_reload_conf()");
}

// A server that did not notice the copy's begin, since its connection for hints was away.
TEST_F(MoveTest, NoServerWorksWithHalfACopy) {
  Life server(shared_cluster(), database_);
  shared_cluster().sql("UPDATE davit.store SET loading = ''", database_);
  const std::string refused = commit(server.client, group("a"));
  EXPECT_TRUE(has(refused, "a copy into it is not complete")) << refused;
  EXPECT_EQ(server.client.head().error().code, Code::failed_precondition);
  shared_cluster().sql("UPDATE davit.store SET loading = NULL", database_);
  EXPECT_EQ(commit(server.client, group("a")), "");
}

}  // namespace
}  // namespace davit::storage_postgres

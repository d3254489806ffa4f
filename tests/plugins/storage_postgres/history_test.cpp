// When an incarnation begins (S10): whenever the database is not proven to be the one that it was.
#include <csignal>
#include <thread>

#include "davit/testing/temporary.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

class HistoryTest : public WithPostgres {
 protected:
  static std::string last_reason(test::Cluster& cluster, const std::string& database = "postgres") {
    return cluster.sql("SELECT reason FROM davit.incarnations ORDER BY number DESC LIMIT 1",
                       database);
  }
  static std::string count(test::Cluster& cluster, const std::string& database = "postgres") {
    return cluster.sql("SELECT count(*) FROM davit.incarnations", database);
  }
  static Code read_code(const storage::Client& client, Cursor at) {
    ReadRequest q;
    q.cursor = at;
    const auto r = client.read(q, [](const davit_record&) { return true; });
    return r.ok() ? Code::ok : r.error().code;
  }
  // Until the standby has what the primary has.
  static void wait_for(test::Cluster& standby, const std::string& head) {
    for (int i = 0; i < 1'000; ++i) {
      try {
        if (standby.sql("SELECT head FROM davit.store") == head) return;
      } catch (const std::exception&) {
        // it has not the table yet
      }
      std::this_thread::sleep_for(20ms);
    }
    FAIL() << "the standby has not come to " << head;
  }
};

TEST_F(HistoryTest, StartsOfDavitBeginNone) {
  const std::string database = shared_cluster().database();
  Incarnation incarnation;
  for (int i = 0; i < 3; ++i) {
    Life one(shared_cluster(), database), two(shared_cluster(), database);
    ASSERT_EQ(commit(one.client, group("a")), "");
    const Cursor head = two.client.head()->head;
    EXPECT_TRUE(i == 0 || head.incarnation == incarnation);
    incarnation = head.incarnation;
  }
  EXPECT_EQ(count(shared_cluster(), database), "1");
  EXPECT_EQ(last_reason(shared_cluster(), database), "the store is new");
}

TEST_F(HistoryTest, AStartOfTheServerBeginsOneAndCursorsStayGood) {
  test::Cluster cluster;
  Life life(cluster, "postgres");
  ASSERT_EQ(commit(life.client, group("a")), "");
  const Cursor before = life.client.head()->head;
  cluster.stop(SIGINT);
  cluster.start();
  const auto made = life.client.commit_now({group("b")});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_NE(made->front().incarnation, before.incarnation);
  EXPECT_EQ(made->front().first_version, Version(2));
  EXPECT_EQ(ids(life.client, before), std::vector<std::string>{"b"});
  EXPECT_EQ(read_code(life.client, {before.incarnation, 2}), Code::out_of_range);
  EXPECT_EQ(last_reason(cluster), "the server was started");
  EXPECT_EQ(count(cluster), "2");
}

// The standby lacks the last commits when it is promoted, under running servers.
TEST_F(HistoryTest, APromotedStandbyThatLacksCommitsBeginsOne) {
  test::Cluster primary({"wal_level=replica"});
  Life life(primary, "postgres");
  ASSERT_EQ(commit(life.client, group("a")), "");
  test::Cluster standby(test::Cluster::StandbyOf{primary});
  wait_for(standby, "1");
  const Cursor kept = life.client.head()->head;
  standby.stop(SIGINT);  // it hears of nothing more
  ASSERT_EQ(commit(life.client, group("lost")), "");
  const Cursor lost = life.client.head()->head;
  primary.stop(SIGKILL);
  standby.start();
  standby.promote();

  testing::Config settings = config(standby, "postgres");
  Life after(settings);
  ASSERT_TRUE(after.up.ok()) << after.up.error().message;
  EXPECT_EQ(commit(after.client, group("b")), "");
  EXPECT_EQ(read_code(after.client, lost), Code::out_of_range);
  EXPECT_EQ(ids(after.client, kept), std::vector<std::string>{"b"});
  EXPECT_FALSE(knows(*after.client.history(), lost));
  EXPECT_TRUE(knows(*after.client.history(), kept));
  EXPECT_EQ(last_reason(standby), "the server is on another timeline");
}

// The same, and the server of Davit stays up: it names both hosts.
TEST_F(HistoryTest, AServerThatRunsFollowsAPromotion) {
  test::Cluster primary({"wal_level=replica"});
  test::Cluster standby(test::Cluster::StandbyOf{primary});
  testing::Config both = {
      {"uri", "host=" + primary.folder() + "," + standby.folder() +
                  " user=davit dbname=postgres target_session_attrs=read-write"}};
  Life life(both);
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  ASSERT_EQ(commit(life.client, group("a")), "");
  const Cursor before = life.client.head()->head;
  wait_for(standby, "1");
  primary.stop(SIGKILL);
  standby.promote();
  const auto made = life.client.commit_now({group("b")});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_NE(made->front().incarnation, before.incarnation);
  EXPECT_EQ(ids(life.client, before), std::vector<std::string>{"b"});
}

TEST_F(HistoryTest, AReplicaIsRefused) {
  test::Cluster primary({"wal_level=replica"});
  {
    Life life(primary, "postgres");
    ASSERT_EQ(commit(life.client, group("a")), "");
  }
  test::Cluster standby(test::Cluster::StandbyOf{primary});
  wait_for(standby, "1");
  testing::Config settings = config(standby, "postgres");
  settings.set({"connect_timeout_ms", 200});
  for (const std::string& error : {start_error(settings), check_error(settings), migrate(settings)})
    EXPECT_NE(
        error.find("the server is a replica, which may lack what the primary has answered: name "
                   "the primary"),
        std::string::npos)
        << error;
}

// A dump that is brought back: the same server, the same timeline, and no restart of it.
TEST_F(HistoryTest, ADumpThatIsBroughtBackBeginsOne) {
  const std::string database = shared_cluster().database();
  Life life(shared_cluster(), database);
  ASSERT_EQ(commit(life.client, group("a")), "");
  const Cursor kept = life.client.head()->head;
  const testing::TemporaryDirectory folder;
  const std::string dump = folder.path() + "/dump";
  const std::string at = " -h " + shared_cluster().folder() + " -U davit ";
  const std::string bin = test::Cluster::programs();
  ASSERT_EQ(std::system((bin + "/pg_dump" + at + database + " -f " + dump).c_str()), 0);
  for (const char* id : {"b", "c"}) ASSERT_EQ(commit(life.client, group(id)), "");
  const Cursor lost = life.client.head()->head;
  ASSERT_EQ(
      std::system((bin + "/psql -q -X -1 -v ON_ERROR_STOP=1" + at + database +
                   " -c 'DROP SCHEMA davit CASCADE' -f " + dump + " > " + folder.path() + "/out")
                      .c_str()),
      0);
  const auto made = life.client.commit_now({{{{record("d")}, {record("e")}}, {}}});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_NE(made->front().incarnation, lost.incarnation);
  EXPECT_EQ(life.client.head()->head.version, lost.version) << "the versions are given again";
  EXPECT_EQ(read_code(life.client, lost), Code::out_of_range);
  EXPECT_EQ(ids(life.client, kept), (std::vector<std::string>{"d", "e"}));
  EXPECT_EQ(last_reason(shared_cluster(), database), "the store was restored");
}

TEST_F(HistoryTest, ADumpInAnotherServerBeginsOne) {
  const std::string database = shared_cluster().database();
  Cursor before;
  {
    Life life(shared_cluster(), database);
    ASSERT_EQ(commit(life.client, group("a")), "");
    before = life.client.head()->head;
  }
  test::Cluster other({}, true);
  const std::string bin = test::Cluster::programs();
  ASSERT_EQ(std::system((bin + "/pg_dump -h " + shared_cluster().folder() + " -U davit " +
                         database + " | " + bin + "/psql -q -X -h " + other.folder() +
                         " -U davit postgres > " + other.folder() + "/out")
                            .c_str()),
            0);
  Life life(other, "postgres");
  EXPECT_NE(life.client.head()->head.incarnation, before.incarnation);
  EXPECT_EQ(life.client.head()->head.version, before.version);
  EXPECT_EQ(read_code(life.client, before), Code::ok);
}

// As if the proofs of the row had been forged: the process remembers what it has seen.
TEST_F(HistoryTest, AHeadBelowWhatWasSeenBeginsOne) {
  const std::string database = shared_cluster().database();
  Life life(shared_cluster(), database);
  for (const char* id : {"a", "b", "c"}) ASSERT_EQ(commit(life.client, group(id)), "");
  const Cursor lost = life.client.head()->head;
  shared_cluster().sql(
      "DELETE FROM davit.records WHERE version = 3; UPDATE davit.store SET head = 2, written_by = "
      "txid_current()",
      database);
  EXPECT_EQ(read_code(life.client, lost), Code::out_of_range);
  EXPECT_NE(life.client.head()->head.incarnation, lost.incarnation);
  EXPECT_EQ(last_reason(shared_cluster(), database),
            "the store went back below what was seen of it");
}

TEST_F(HistoryTest, ARowThatSomebodyEditedBeginsOne) {
  const std::string database = shared_cluster().database();
  Life life(shared_cluster(), database);
  ASSERT_EQ(commit(life.client, group("a")), "");
  const Cursor before = life.client.head()->head;
  shared_cluster().sql("UPDATE davit.store SET head = head + 5", database);
  const Cursor after = life.client.head()->head;
  EXPECT_NE(after.incarnation, before.incarnation);
  EXPECT_EQ(after.version, Version(6));
  EXPECT_EQ(read_code(life.client, before), Code::ok);
}

TEST_F(HistoryTest, AVacuumOfTheRowBeginsNone) {
  const std::string database = shared_cluster().database();
  Life life(shared_cluster(), database);
  ASSERT_EQ(commit(life.client, group("a")), "");
  const Incarnation before = life.client.head()->head.incarnation;
  shared_cluster().sql("VACUUM (FULL, FREEZE) davit.store", database);
  EXPECT_EQ(commit(life.client, group("b")), "");
  EXPECT_EQ(life.client.head()->head.incarnation, before);
}

}  // namespace
}  // namespace davit::storage_postgres

// Connections that are lost, and servers that die (S4, S6, S10).
#include <csignal>
#include <map>
#include <thread>

#include "plugin_under_test.hpp"
#include "proxy.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using Loses = test::Proxy::Loses;

class Lost : public OnDatabase {};

TEST_F(Lost, ACommitWhoseAnswerWasLostIsFoundOut) {
  test::Proxy proxy(shared_cluster().folder());
  testing::Config through = config(shared_cluster(), database_);
  through.set({"host", proxy.folder()});
  Life life(through);
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  ASSERT_EQ(commit(life.client, group("a")), "");
  proxy.at_next_commit(Loses::after_commit);
  const auto kept = life.client.commit_now({group("b")});
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept->front().first_version, Version(2));
  EXPECT_EQ(kept->front().incarnation, life.client.head()->head.incarnation);
  EXPECT_EQ(proxy.lost(), 1);
  EXPECT_EQ(ids(life.client), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(commit(life.client, group("c")), "");
}

TEST_F(Lost, ACommitThatWasLostBeforeItIsSaidToHaveDoneNothing) {
  test::Proxy proxy(shared_cluster().folder());
  testing::Config through = config(shared_cluster(), database_);
  through.set({"host", proxy.folder()});
  Life life(through);
  ASSERT_EQ(commit(life.client, group("a")), "");
  proxy.at_next_commit(Loses::before_commit);
  const auto lost = life.client.commit_now({group("b")});
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, Code::unavailable);
  EXPECT_NE(lost.error().message.find("nothing was committed"), std::string::npos)
      << lost.error().message;
  EXPECT_EQ(proxy.lost(), 1);
  EXPECT_EQ(ids(life.client), std::vector<std::string>{"a"});
  EXPECT_EQ(commit(life.client, group("b")), "");
  EXPECT_EQ(life.client.head()->head.version, Version(2)) << "the version is given to the next";
}

// Reports have no id to ask for. They may be repeated.
TEST_F(Lost, AReportWhoseAnswerWasLostIsRepeatedAndChangesNothing) {
  test::Proxy proxy(shared_cluster().folder());
  testing::Config through = config(shared_cluster(), database_);
  through.set({"host", proxy.folder()});
  Life life(through);
  ASSERT_EQ(commit(life.client, group("a")), "");
  proxy.at_next_commit(Loses::after_commit);
  const auto lost = life.client.report_now({status("a", "x")});
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, Code::unavailable);
  ASSERT_TRUE(life.client.report_now({status("a", "x")}).ok());
  EXPECT_EQ(life.client.head()->status_head, Version(1));
}

TEST_F(Lost, IdleConnectionsThatTheServerHasClosedAreReplacedWithoutAnError) {
  Life life(shared_cluster(), database_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND "
      "application_name = 'davit main'");
  EXPECT_EQ(commit(life.client, group("b")), "");
  EXPECT_EQ(ids(life.client), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(Lost, AnOutageIsToldOnceAndEnds) {
  test::Cluster cluster;
  testing::Config quick = config(cluster, "postgres");
  quick.set({"connect_timeout_ms", 200});
  Life life(quick);
  ASSERT_EQ(commit(life.client, group("a")), "");
  cluster.stop(SIGINT);
  for (int i = 0; i < 3; ++i) {
    const auto down = life.client.head();
    ASSERT_FALSE(down.ok());
    EXPECT_EQ(down.error().code, Code::unavailable);
    EXPECT_EQ(down.error().message, "storage \"main\": the database cannot be reached");
  }
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_NOT_SERVING);
  int told = 0;
  for (const auto& line : life.host.log()) told += line.message == "database fails";
  EXPECT_EQ(told, 1);
  cluster.start();
  EXPECT_EQ(commit(life.client, group("b")), "");
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  EXPECT_TRUE(life.host.logged("database works again"));
}

TEST_F(Lost, ACallWaitsForAServerThatComesBackSoon) {
  test::Cluster cluster;
  testing::Config patient = config(cluster, "postgres");
  patient.set({"connect_timeout_ms", 30'000});
  Life life(patient);
  ASSERT_EQ(commit(life.client, group("a")), "");
  cluster.stop(SIGINT);
  std::thread later([&] { std::this_thread::sleep_for(300ms); });
  std::string error = "not called";
  std::thread caller([&] { error = commit(life.client, group("b")); });
  later.join();
  cluster.start();
  caller.join();
  EXPECT_EQ(error, "");
}

// What writers have been told, while the server dies under them.
struct Ledger {
  std::mutex mutex;
  std::map<std::string, Cursor> told;  // by the id
  std::vector<std::string> unknown;

  // Until so many more are told; false: it takes too long.
  bool wait_for_more(size_t count) {
    const auto told_now = [this] {
      const std::lock_guard lock(mutex);
      return told.size();
    };
    const size_t wanted = told_now() + count;
    for (int i = 0; i < 3'000 && told_now() < wanted; ++i) std::this_thread::sleep_for(20ms);
    return told_now() >= wanted;
  }
  void write(const storage::Client& client, const std::string& writer,
             const std::atomic<bool>& over) {
    for (int serial = 0; !over; ++serial) {
      const std::string id = writer + "-" + std::to_string(serial);
      Group g = group(id);
      g.request_id = id;
      const auto r = client.commit_now({g});
      const std::lock_guard lock(mutex);
      if (r.ok() && !r->front().error) {
        told[id] = {r->front().incarnation, r->front().first_version};
      } else {
        unknown.push_back(id);
      }
    }
  }
};

TEST_F(Lost, NothingThatWasAcknowledgedIsLostWhenTheServerIsKilledUnderLoad) {
  test::Cluster cluster({"fsync=on"});
  Life life(cluster, "postgres");
  Ledger ledger;
  std::atomic<bool> over{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&, w] { ledger.write(life.client, "w" + std::to_string(w), over); });
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(ledger.wait_for_more(10)) << "hardly anything is written";
    cluster.stop(SIGKILL);
    cluster.start();
  }
  EXPECT_TRUE(ledger.wait_for_more(10));
  over = true;
  for (auto& writer : writers) writer.join();

  std::map<std::string, Version> found;
  ReadRequest all;
  all.limit = 1'000'000;
  ASSERT_TRUE(life.client
                  .read(all,
                        [&](const davit_record& r) {
                          found[text(r.key.id)] = Version(r.version);
                          return true;
                        })
                  .ok());
  const auto history = life.client.history();
  ASSERT_TRUE(history.ok());
  for (const auto& [id, at] : ledger.told) {
    EXPECT_EQ(found[id], at.version) << id << " was acknowledged";
    EXPECT_TRUE(knows(*history, at)) << id;
  }
  for (const auto& id : ledger.unknown) {
    Group g = group(id);
    g.request_id = id;
    const auto again = life.client.commit_now({g});
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE(!found.contains(id) || again->front().first_version == found[id]) << id;
  }
  std::cout << "[          ] " << ledger.told.size() << " acknowledged, " << ledger.unknown.size()
            << " not, " << history->size() << " incarnations\n";
}

}  // namespace
}  // namespace davit::storage_postgres

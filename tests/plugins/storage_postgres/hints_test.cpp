// Hints between the servers of one database (S9).
#include <condition_variable>
#include <mutex>

#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

// One watch, and when it has heard.
class Heard {
 public:
  explicit Heard(const storage::Client& client) {
    auto watch = client.watch(
        [](void* self, uint32_t what) {
          auto& heard = *static_cast<Heard*>(self);
          const std::lock_guard lock(heard.mutex_);
          heard.what_ |= what;
          heard.changed_.notify_all();
        },
        this);
    if (watch.ok()) watch_ = std::move(*watch);
  }
  bool wait(uint32_t what, std::chrono::milliseconds limit = 20s) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return (what_ & what) == what; });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    what_ = 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t what_ = 0;
  storage::Watch watch_;  // last
};

// Until what one of them writes reaches the other: it may not listen yet.
void listens(const storage::Client& writer, Heard& heard) {
  for (int i = 0; i < 200; ++i) {
    heard.forget();
    ASSERT_TRUE(writer.progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
    if (heard.wait(DAVIT_HINT_AGENTS, 100ms)) return heard.forget();
  }
  FAIL() << "nothing is heard";
}

class HintsTest : public OnDatabase {
 protected:
  static constexpr uint32_t everything =
      DAVIT_HINT_RECORDS | DAVIT_HINT_STATUSES | DAVIT_HINT_AGENTS;
};

TEST_F(HintsTest, WhatOneServerWritesTheOtherHearsOf) {
  Life one(shared_cluster(), database_), two(shared_cluster(), database_);
  Heard heard(two.client);
  listens(one.client, heard);
  struct Row {
    uint32_t what;
    std::function<void()> write;
  };
  for (const Row& row :
       {Row{DAVIT_HINT_RECORDS, [&] { EXPECT_EQ(commit(one.client, group("a")), ""); }},
        Row{DAVIT_HINT_STATUSES,
            [&] { EXPECT_TRUE(one.client.report_now({status("a", "x")}).ok()); }},
        Row{DAVIT_HINT_AGENTS, [&] {
              EXPECT_TRUE(one.client.progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
            }}}) {
    heard.forget();
    row.write();
    EXPECT_TRUE(heard.wait(row.what)) << row.what;
  }
}

TEST_F(HintsTest, WhoseConnectionWasLostHearsOfEverythingAndGoesOn) {
  Life one(shared_cluster(), database_), two(shared_cluster(), database_);
  Heard heard(two.client);
  listens(one.client, heard);
  shared_cluster().sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND "
      "application_name = 'davit main'",
      database_);
  ASSERT_TRUE(heard.wait(everything)) << "it may have missed anything";
  listens(one.client, heard);
}

TEST_F(HintsTest, StoresOfOtherSchemasHearNothing) {
  testing::Config other = config(shared_cluster(), database_);
  other.set({"schema", "other"});
  Life one(shared_cluster(), database_), two(other), three(shared_cluster(), database_);
  Heard heard(two.client), mark(three.client);
  listens(one.client, mark);
  listens(two.client, heard);
  ASSERT_EQ(commit(one.client, group("a")), "");
  ASSERT_TRUE(mark.wait(DAVIT_HINT_RECORDS));
  EXPECT_FALSE(heard.wait(DAVIT_HINT_RECORDS, 20ms));
}

}  // namespace
}  // namespace davit::storage_postgres

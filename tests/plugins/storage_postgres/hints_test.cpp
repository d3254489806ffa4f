// Hints between the servers of one database (S9).
#include "heard.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

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
      DAVIT_HINT_RECORDS | DAVIT_HINT_STATUSES | DAVIT_HINT_AGENTS | DAVIT_HINT_INTENTS;
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
  Life four(other);
  Heard heard(two.client), mark(three.client);
  listens(one.client, mark);
  listens(four.client, heard);  // of another instance, so it has connected
  ASSERT_EQ(commit(one.client, group("a")), "");
  ASSERT_TRUE(mark.wait(DAVIT_HINT_RECORDS));
  EXPECT_FALSE(heard.wait(DAVIT_HINT_RECORDS, 20ms));
}

}  // namespace
}  // namespace davit::storage_postgres

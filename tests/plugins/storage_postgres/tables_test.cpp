// What people query (README.md), and what the tables keep of odd content.
#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

class Tables : public OnDatabase {};

TEST_F(Tables, TheQueriesOfTheReadmeFindWhatWasWritten) {
  Life life(shared_cluster(), database_);
  Record r = record("a");
  r.key.kind = "deployment";
  r.json = "{\"replicas\": 3}";
  ASSERT_EQ(commit(life.client, {{{r}}, {}}), "");
  EXPECT_EQ(sql("SELECT name FROM davit.workloads WHERE kind = 'deployment' AND NOT up_to_date"),
            "a");
  EXPECT_EQ(sql("SELECT json->'replicas' FROM davit.records WHERE kind = 'deployment' AND live"),
            "3");
  Status s = status("a", "");
  s.key.kind = "deployment";
  s.reported_at_unix_ms = 1'700'000'000'000;
  ASSERT_TRUE(life.client.report_now({s}).ok());
  EXPECT_EQ(
      sql("SELECT up_to_date AND health = 'healthy' AND reported_at = '2023-11-14 22:13:20Z' FROM "
          "davit.workloads"),
      "t");
  ASSERT_TRUE(
      life.client.progress({"r1", "agent", "davit", 1, {{"deployment", {7, 0}}}, {}, INT64_MAX})
          .ok());
  EXPECT_EQ(sql("SELECT behind FROM davit.agent_progress WHERE behind > 0"), "1");
  EXPECT_EQ(sql("SELECT seen_at IS NULL FROM davit.agent_progress"), "t")
      << "no time of PostgreSQL's";
}

TEST_F(Tables, EveryTableSaysWhatItIs) {
  Life life(shared_cluster(), database_);
  EXPECT_EQ(
      sql("SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE "
          "n.nspname = 'davit' AND c.relkind IN ('r', 'v') AND obj_description(c.oid) IS NULL"),
      "0");
}

TEST_F(Tables, JsonThatJsonbCannotHoldIsLeftOutAndTheRecordIsKept) {
  Life life(shared_cluster(), database_);
  Group all;
  for (const char* json : {"no json", "{\"zero\": \"\\u0000\"}", "{\"n\": 1e999999}", "", "[1"}) {
    Record r = record(std::to_string(all.mutations.size()), "payload of " + std::string(json));
    r.json = json;
    all.mutations.push_back({r});
  }
  Record deep = record("deep");
  deep.json = std::string(100'000, '[') + std::string(100'000, ']');
  Record good = record("good");
  good.json = "{\"a\": 1}";
  all.mutations.push_back({deep});
  all.mutations.push_back({good});
  ASSERT_EQ(commit(life.client, all), "");
  EXPECT_EQ(ids(life.client).size(), 7u);
  EXPECT_EQ(sql("SELECT count(*) FROM davit.records WHERE json IS NULL"), "6");
  EXPECT_EQ(sql("SELECT json FROM davit.records WHERE id = 'good'"), "{\"a\": 1}");
}

// Without them a key is looked for among all records of its region.
TEST_F(Tables, ThereAreStatisticsAfterAFewWrites) {
  const auto known = [&] {
    return sql(
        "SELECT string_agg(DISTINCT tablename, ' ' ORDER BY tablename) FROM pg_stats WHERE "
        "schemaname = 'davit' AND tablename IN ('records', 'statuses')");
  };
  sql("ALTER SYSTEM SET autovacuum = off");
  sql("SELECT pg_reload_conf()");
  Life life(shared_cluster(), database_);
  for (int n = 0; n < 8; ++n) {
    EXPECT_EQ(known(), "") << n;
    ASSERT_EQ(commit(life.client, group(std::to_string(n))), "");
  }
  EXPECT_EQ(known(), "records");
  for (int n = 0; n < 8; ++n)
    ASSERT_TRUE(life.client.report_now({status(std::to_string(n), "said")}).ok());
  EXPECT_EQ(known(), "records statuses");
  sql("ALTER SYSTEM RESET autovacuum");
  sql("SELECT pg_reload_conf()");
}

}  // namespace
}  // namespace davit::storage_postgres

// The tables are for people, too: the queries that the README shows.
#include <sqlite3.h>

#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

// Rows with '|' between columns, read by another connection while the instance runs.
std::vector<std::string> query(const std::string& path, const char* text) {
  sqlite3* db = nullptr;
  std::vector<std::string> rows;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  const auto row = [](void* out, int columns, char** values, char**) {
    std::string line;
    for (int i = 0; i < columns; ++i)
      line += std::string(i == 0 ? "" : "|") + (values[i] == nullptr ? "NULL" : values[i]);
    static_cast<std::vector<std::string>*>(out)->push_back(line);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, text, row, &rows, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  return rows;
}

TEST(Tables, AreQueriedWithSqlWhileTheInstanceRuns) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  Group g = group("web");
  g.mutations[0].record.json = "{\"image\": \"nginx\"}";
  g.mutations[0].record.annotations = {{"paused", "yes"}};
  ASSERT_EQ(commit(life.client, g), "");
  Status s = status("web", "");
  s.desired = 3;
  s.ready = 2;
  s.children = {{"pod-1", "10.0.0.1", "running", 250, 64}};
  ASSERT_TRUE(life.client.report_now({s}).ok());
  ASSERT_TRUE(life.client.progress({"r1", "agent", "davit", 1, {{"widget", {5, 1}}}, {}, 7}).ok());
  EXPECT_EQ(query(path,
                  "SELECT region, id, ns, name, state, version FROM records WHERE kind = 'widget' "
                  "AND live"),
            std::vector<std::string>{"r1|web|default|web|running|1"});
  EXPECT_EQ(query(path,
                  "SELECT r.name, s.health, s.ready, s.desired FROM records r JOIN statuses s "
                  "USING (kind, region, id)"),
            std::vector<std::string>{"web|healthy|2|3"});
  EXPECT_EQ(query(path, "SELECT json ->> 'image', annotations ->> 'paused' FROM records"),
            std::vector<std::string>{"nginx|yes"});
  EXPECT_EQ(query(path, "SELECT id, name, address, cpu_millicores FROM children"),
            std::vector<std::string>{"web|pod-1|10.0.0.1|250"});
  EXPECT_EQ(
      query(
          path,
          "SELECT agent, kind, applied_version FROM agents JOIN agent_kinds USING (region, agent)"),
      std::vector<std::string>{"agent|widget|1"});
}

TEST(Tables, PagesAreReadWithoutSorting) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  for (const char* text : {"EXPLAIN QUERY PLAN SELECT * FROM records WHERE version > 5 AND (live "
                           "OR version > 0) ORDER BY version LIMIT 9",
                           "EXPLAIN QUERY PLAN SELECT * FROM records INDEXED BY records_scope "
                           "WHERE version > 5 AND (live OR version > 0) "
                           "AND kind = 'a' AND region = 'b' ORDER BY version LIMIT 9",
                           "EXPLAIN QUERY PLAN SELECT version FROM records WHERE live = 0 AND "
                           "version <= 9 ORDER BY version LIMIT 1"}) {
    for (const auto& line : query(path, text)) {
      EXPECT_NE(line.find("SEARCH"), std::string::npos) << line;
      EXPECT_EQ(line.find("TEMP B-TREE"), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace davit::storage_sqlite

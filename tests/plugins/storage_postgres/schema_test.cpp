// The schema: made at the start or by migrate, and refused when it is not what it should be.
#include "schema.hpp"

#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

class SchemaTest : public OnDatabase {
 protected:
  void SetUp() override {
    OnDatabase::SetUp();
    if (IsSkipped()) return;
    config_ = config(shared_cluster(), database_);
  }
  std::unique_ptr<Session> session() { return session_of(config_); }
  void expect_refused(const std::string& because) {
    for (const std::string& error : {start_error(config_), check_error(config_)}) {
      EXPECT_NE(error.find(because), std::string::npos) << error;
      EXPECT_NE(error.find("database \"" + database_ + "\" on "), std::string::npos) << error;
    }
  }

  testing::Config config_;
};

constexpr const char* all_steps =
    "version 1: make the tables of the store\n"
    "version 2: make views for people: workloads, agent_progress\n"
    "version 3: make the table of intents\n";
const std::string newest = std::to_string(schema_steps().size());

TEST_F(SchemaTest, AStartMakesItInAnEmptyDatabase) {
  EXPECT_EQ(check_error(config_), "");
  EXPECT_EQ(sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'davit'"), "0")
      << "a check changes nothing";
  EXPECT_EQ(start_error(config_), "");
  EXPECT_EQ(sql("SELECT max(version) FROM davit.schema_steps"), newest);
  EXPECT_EQ(check_error(config_), "");
  EXPECT_EQ(migrate(config_), "");
}

TEST_F(SchemaTest, AStartMakesNothingWhereThatIsNotWanted) {
  config_.set({"create_schema", false});
  expect_refused("schema \"davit\" does not exist: run `davit storage migrate");
  EXPECT_EQ(sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'davit'"), "0");
  EXPECT_EQ(migrate(config_), all_steps);
  EXPECT_EQ(start_error(config_), "");
}

TEST_F(SchemaTest, ADryRunSaysWhatWouldBeDoneAndChangesNothing) {
  EXPECT_EQ(migrate(config_, true), all_steps);
  EXPECT_EQ(sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'davit'"), "0");
  EXPECT_EQ(migrate(config_), all_steps);
  EXPECT_EQ(migrate(config_, true), "");
}

// The first step alone, as an older davit would have made it.
TEST_F(SchemaTest, AnOlderOneIsRefusedAndMigratedWithWhatIsInIt) {
  const std::vector<SchemaStep> older(schema_steps().begin(), schema_steps().begin() + 1);
  ASSERT_TRUE(Schema("davit", older).migrate(*session(), false).ok());
  EXPECT_EQ(sql("INSERT INTO davit.requests VALUES ('kept', 1, now()) RETURNING 'x'"), "x");
  expect_refused("schema \"davit\" has version 1, and this davit needs " + newest +
                 ": stop the servers of the older davit and run `davit storage migrate");
  const std::string rest = std::string(all_steps).substr(std::string(all_steps).find("version 2"));
  EXPECT_EQ(migrate(config_, true), rest);
  EXPECT_EQ(sql("SELECT max(version) FROM davit.schema_steps"), "1");
  EXPECT_EQ(migrate(config_), rest);
  EXPECT_EQ(start_error(config_), "");
  EXPECT_EQ(sql("SELECT request_id FROM davit.requests"), "kept");
}

TEST_F(SchemaTest, ANewerOneIsRefusedByAllOfThem) {
  ASSERT_EQ(migrate(config_), all_steps);
  const std::string next = std::to_string(schema_steps().size() + 1);
  sql("INSERT INTO davit.schema_steps VALUES (" + next + ", 'of the future', '{}')");
  expect_refused("has version " + next + ", newer than " + newest +
                 ", the newest that this davit knows: start a newer davit");
  for (const bool dry : {true, false})
    EXPECT_NE(migrate(config_, dry).find("newer than " + newest), std::string::npos);
}

TEST_F(SchemaTest, AStepThatFailsLeavesNothing) {
  const std::vector<SchemaStep> broken = {schema_steps()[0], {"fail", "SELECT 1/0"}};
  EXPECT_THROW((void)Schema("davit", broken).migrate(*session(), false), Fault);
  EXPECT_EQ(sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'davit'"), "0");
}

TEST_F(SchemaTest, ATableThatSomebodyAlteredIsRefusedByName) {
  ASSERT_EQ(migrate(config_), all_steps);
  struct Row {
    const char *change, *undo, *error;
  };
  for (const Row& row :
       {Row{"ALTER TABLE davit.children ALTER cpu_millicores TYPE integer",
            "ALTER TABLE davit.children ALTER cpu_millicores TYPE bigint",
            "it is \"column children.cpu_millicores integer not null\", and was \"column "
            "children.cpu_millicores bigint not null\""},
        Row{"ALTER TABLE davit.agents RENAME software TO program",
            "ALTER TABLE davit.agents RENAME program TO software",
            "the column agents.software is missing"},
        Row{"ALTER TABLE davit.statuses ALTER message DROP NOT NULL",
            "ALTER TABLE davit.statuses ALTER message SET NOT NULL",
            "it is \"column statuses.message text collate C\""},
        Row{"DROP INDEX davit.records_live_name",
            "CREATE UNIQUE INDEX records_live_name ON davit.records (kind, region, ns, name) WHERE "
            "live",
            "the unique index records_live_name is missing"},
        Row{"ALTER TABLE davit.records ADD mine integer NOT NULL",
            "ALTER TABLE davit.records DROP mine", "the column records.mine is new"},
        Row{"ALTER TABLE davit.requests RENAME TO questions",
            "ALTER TABLE davit.questions RENAME TO requests", "is missing"}}) {
    sql(row.change);
    expect_refused(row.error);
    sql(row.undo);
    EXPECT_EQ(start_error(config_), "") << row.undo;
  }
}

TEST_F(SchemaTest, WhatAnOperatorMayAddDoesNotMatter) {
  ASSERT_EQ(migrate(config_), all_steps);
  sql("ALTER TABLE davit.records ADD note text, ADD ticket integer NOT NULL DEFAULT 0");
  sql("CREATE INDEX mine ON davit.records (author)");
  sql("CREATE VIEW davit.ours AS SELECT id FROM davit.records");
  EXPECT_EQ(start_error(config_), "");
  Life life(config_);
  EXPECT_EQ(commit(life.client, group("a")), "");
}

// A role that is called as the schema makes its tables there.
TEST_F(SchemaTest, ATableOfSomebodyElseDoesNotMatter) {
  const std::vector<SchemaStep> older(schema_steps().begin(), schema_steps().begin() + 1);
  ASSERT_TRUE(Schema("davit", older).migrate(*session(), false).ok());
  sql("CREATE TABLE davit.orders (id bigint PRIMARY KEY, size text NOT NULL)");
  migrate(config_);
  EXPECT_EQ(start_error(config_), "");
  sql("CREATE TABLE davit.invoices (id bigint NOT NULL UNIQUE)");
  sql("ALTER TABLE davit.orders DROP COLUMN size");
  EXPECT_EQ(start_error(config_), "");
  sql("DROP TABLE davit.orders, davit.invoices");
  EXPECT_EQ(start_error(config_), "");
}

TEST_F(SchemaTest, ASchemaOfSomethingElseIsRefused) {
  sql("CREATE SCHEMA davit CREATE TABLE theirs (x integer)");
  expect_refused("schema \"davit\" has tables of something else: choose another one (key schema)");
  EXPECT_NE(migrate(config_).find("has tables of something else"), std::string::npos);
  EXPECT_EQ(sql("SELECT count(*) FROM pg_class WHERE relname = 'records'"), "0");
}

TEST_F(SchemaTest, ARoleWithoutRightsIsToldWhichOneItLacks) {
  shared_cluster().sql("DROP ROLE IF EXISTS poor");
  shared_cluster().sql("CREATE ROLE poor LOGIN");
  testing::Config owner = config_;
  config_.set({"user", "poor"});
  expect_refused(
      "the role \"poor\" may not make a schema in the database: GRANT CREATE ON DATABASE");
  EXPECT_NE(migrate(config_).find("GRANT CREATE ON DATABASE"), std::string::npos);
  ASSERT_EQ(migrate(owner), all_steps);
  expect_refused("permission denied for schema davit");
  sql("GRANT USAGE ON SCHEMA davit TO poor; GRANT SELECT ON davit.schema_steps TO poor");
  expect_refused(
      "the role \"poor\" may not DELETE on table \"agent_issues\": GRANT SELECT, INSERT, "
      "UPDATE, DELETE ON ALL TABLES IN SCHEMA \"davit\" to it");
  sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA davit TO poor");
  EXPECT_EQ(start_error(config_), "");
  Life life(config_);
  EXPECT_EQ(commit(life.client, group("a")), "") << "the rights that the README lists are enough";
  EXPECT_TRUE(life.client.report_now({status("a", "x")}).ok());
  EXPECT_TRUE(life.client.progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
  EXPECT_TRUE(life.client.maintain({true, 1}).ok());
  EXPECT_EQ(ids(life.client), std::vector<std::string>{"a"});
  sql("DROP OWNED BY poor");
}

TEST_F(SchemaTest, TwoServersThatStartAtOnceMakeItOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (auto& error : errors) threads.emplace_back([&] { error = start_error(config_); });
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(sql("SELECT count(*) FROM davit.schema_steps"), newest);
}

TEST_F(SchemaTest, ASessionIsSetUpAsTheStoreNeedsItWhateverTheRoleWasConfiguredTo) {
  sql("ALTER DATABASE " + database_ + " SET synchronous_commit = off; ALTER DATABASE " + database_ +
      " SET bytea_output = 'escape'; ALTER DATABASE " + database_ +
      " SET default_transaction_isolation = 'serializable'");
  config_.set({"idle_in_transaction_timeout_ms", 1'500});
  const auto one = session();
  const auto setting = [&](const std::string& name) {
    return std::string(one->script("SELECT current_setting('" + name + "')")[0][0].c_str());
  };
  EXPECT_EQ(setting("idle_in_transaction_session_timeout"), "1500ms");
  EXPECT_EQ(setting("synchronous_commit"), "on");
  EXPECT_EQ(setting("bytea_output"), "hex");
  EXPECT_EQ(setting("default_transaction_isolation"), "read committed");
  sql("ALTER DATABASE " + database_ + " SET synchronous_commit = remote_apply");
  EXPECT_EQ(session()->script("SHOW synchronous_commit")[0][0].as<std::string>(), "remote_apply");
  Life life(config_);
  Record r = record("a", std::string("\0\\\xff", 3));
  ASSERT_EQ(commit(life.client, {{{r}}, {}}), "");
  Query q{r.key, {}, {}};
  EXPECT_TRUE(life.client
                  .get(q,
                       [&](const davit_record& found) {
                         EXPECT_EQ(from_abi(found).payload, r.payload);
                         return true;
                       })
                  .ok());
}

TEST_F(SchemaTest, SeveralStoresFitIntoOneDatabase) {
  testing::Config other = config_;
  other.set({"schema", "it's \"another\""});
  Life one(config_), two(other);
  ASSERT_TRUE(one.up.ok() && two.up.ok());
  EXPECT_EQ(commit(one.client, group("a")), "");
  EXPECT_EQ(commit(two.client, group("b")), "");
  EXPECT_EQ(ids(one.client), std::vector<std::string>{"a"});
  EXPECT_EQ(ids(two.client), std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace davit::storage_postgres

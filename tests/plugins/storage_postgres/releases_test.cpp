// Two releases of davit on one schema: nobody migrates under a server that runs, and a server whose
// schema was migrated all the same writes nothing.
#include <map>
#include <thread>

#include "continuity.hpp"
#include "davit/storage_intents.hpp"
#include "plugin_under_test.hpp"
#include "presence.hpp"
#include "schema.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

const uint64_t known = schema_steps().size();

// The schema of the next release.
std::vector<SchemaStep> next_steps(const char* sql) {
  std::vector<SchemaStep> out = schema_steps();
  out.push_back(SchemaStep{"of the next release", sql});
  return out;
}

class Releases : public OnDatabase {
 protected:
  void SetUp() override {
    OnDatabase::SetUp();
    if (IsSkipped()) return;
    config_ = config(shared_cluster(), database_);
    ASSERT_NE(migrate(config_), "");
  }
  // The lines that the next release's `davit storage migrate` prints, or the error.
  std::string migrate_to_next(bool dry_run, Patience patience = {}) {
    const auto steps = next_steps("ALTER TABLE store ADD note text");
    const auto made = Schema("davit", steps).migrate(*session_of(config_), dry_run, patience);
    if (!made.ok()) return made.error().message;
    std::string out;
    for (const auto& line : *made) out += line + "\n";
    return out;
  }
  std::string version() { return sql("SELECT max(version) FROM davit.schema_steps"); }
  // All that is in the tables.
  std::string content() { return sql("SELECT md5(schema_to_xml('davit', true, false, '')::text)"); }

  testing::Config config_;
};

TEST_F(Releases, NobodyMigratesWhileAServerHasTheStoreOpen) {
  const std::string works = "a davit works with the store (session ";
  const std::string stop = ", davit main): stop it first";
  const std::string step = "version " + std::to_string(known + 1) + ": of the next release\n";
  {
    Life server(config_);
    ASSERT_TRUE(server.up.ok()) << server.up.error().message;
    const std::string refused = migrate_to_next(false);
    EXPECT_TRUE(refused.starts_with(works) && has(refused, stop)) << refused;
    const std::string listed = migrate_to_next(true);
    EXPECT_TRUE(listed.starts_with(step + "only listed, not tried: " + works)) << listed;
    EXPECT_EQ(migrate(config_), "") << "who finds nothing to do needs nobody to stop";
    EXPECT_EQ(commit(server.client, group("a")), "");
    EXPECT_EQ(version(), std::to_string(known));
  }
  EXPECT_EQ(soon(step, [&] { return migrate_to_next(true); }), step);
  EXPECT_EQ(version(), std::to_string(known));
  EXPECT_EQ(migrate_to_next(false), step);
  EXPECT_TRUE(has(start_error(config_), "newer than " + std::to_string(known)));
}

// A dry run that lists the steps waits for no lock of a server's.
TEST_F(Releases, ADryRunHoldsNoServerUp) {
  const auto server = session_of(config_);
  share_store(*server, "davit");
  (void)begin_on_store(*server, Session::Kind::write, {});
  (void)lock_store(*server);
  EXPECT_TRUE(has(migrate_to_next(true), "only listed, not tried"));
}

TEST_F(Releases, AStartDuringAMigrationIsRefused) {
  const auto gate = session_of(config_);
  gate->script("SELECT pg_advisory_lock(1)");
  const auto steps = next_steps("SELECT pg_advisory_xact_lock(1)");
  std::thread migration(
      [&] { EXPECT_TRUE(Schema("davit", steps).migrate(*session_of(config_), false).ok()); });
  const auto waits = [&] {
    return sql(
        "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE "
        "d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted");
  };
  EXPECT_EQ(soon("1", waits), "1");
  const std::string refused = start_error(config_);
  EXPECT_TRUE(has(refused,
                  "`davit storage migrate` or `davit storage copy` has the store for "
                  "itself: wait for it"))
      << refused;
  gate->script("SELECT pg_advisory_unlock(1)");
  migration.join();
  EXPECT_TRUE(has(start_error(config_), "newer than " + std::to_string(known)));
}

// Of a server whose connection with the lock was lost.
TEST_F(Releases, AMigrationWaitsForTransactionsThatHaveBegun) {
  const auto server = session_of(config_);
  (void)begin_on_store(*server, Session::Kind::write, {});
  try {
    ADD_FAILURE() << migrate_to_next(false, {0ms, 100ms});
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), Fault::Kind::waited) << fault.what();
  }
  server->roll_back();
  EXPECT_TRUE(has(migrate_to_next(false), "of the next release"));
  EXPECT_THROW((void)begin_on_store(*server, Session::Kind::write, {}), Fault);
}

// Every call of a server, by its name, and its error.
std::map<std::string, Result<>> all_calls(Life& life) {
  const auto made = [](const auto& r) { return r.ok() ? Result<>() : Result<>(r.error()); };
  const storage::Client& c = life.client;
  storage::Maintain forget{false, 0};
  forget.forget = {"r1", "agent", INT64_MAX};
  std::map<std::string, Result<>> out;
  out.emplace("commit", made(c.commit_now({group("b")})));
  out.emplace("report", c.report_now({status("a", "new")}));
  out.emplace("progress", c.progress({"r1", "agent", "davit", 2, {}, {}, 2}));
  out.emplace("purge", c.maintain({true, 1}));
  out.emplace("forget an agent", c.maintain(forget));
  out.emplace("tidy", c.maintain({false, 0}));
  out.emplace("settle an intent",
              storage::Intents(life.instance.ref(DAVIT_STORAGE_INTENTS))
                  .settle(Op(), {1, Error{Code::not_found, "no such record"}, {}}));
  out.emplace("read", made(c.head()));
  return out;
}

TEST_F(Releases, AServerWhoseSchemaWasMigratedByOtherMeansWritesNothing) {
  Life life(config_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  ASSERT_TRUE(life.client.report_now({status("a", "old")}).ok());
  ASSERT_TRUE(life.client.progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
  sql("INSERT INTO davit.intents (document) VALUES ('{}')");
  const std::string newest = std::to_string(known), next = std::to_string(known + 1);
  struct Row {
    std::string change, undo, error;
  };
  for (const Row& row :
       {Row{"INSERT INTO davit.schema_steps VALUES (" + next + ", 'of the future', '{}')",
            "DELETE FROM davit.schema_steps WHERE version = " + next,
            "the schema has version " + next + ", newer than " + newest +
                ", the newest that this davit knows: start a newer davit, or name another "
                "database"},
        Row{"UPDATE davit.schema_steps SET version = 0 WHERE version = " + newest,
            "UPDATE davit.schema_steps SET version = " + newest + " WHERE version = 0",
            "and this davit needs " + newest +
                ": stop the servers of the older davit and run `davit storage "
                "migrate CONFIG...`"}}) {
    sql(row.change);
    const std::string before = content();
    for (const auto& [call, r] : all_calls(life)) {
      ASSERT_FALSE(r.ok()) << call;
      EXPECT_EQ(r.error().code, Code::failed_precondition) << call;
      EXPECT_TRUE(has(r.error().message, row.error)) << call << ": " << r.error().message;
    }
    EXPECT_EQ(content(), before);
    EXPECT_EQ(life.host.health(), DAVIT_HEALTH_NOT_SERVING) << "/readyz says no";
    sql(row.undo);
    EXPECT_TRUE(life.client.head().ok());
    EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  }
  for (const auto& [call, r] : all_calls(life)) EXPECT_TRUE(r.ok()) << call;
}

// A transaction that waited for the migration does not go by what it saw before.
TEST_F(Releases, AServerThatWaitedForAMigrationSeesTheNewSchema) {
  Life life(config_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  const auto other = session_of(config_);
  other->script("BEGIN; LOCK TABLE schema_steps IN ACCESS EXCLUSIVE MODE");
  std::string refused;
  std::thread writer([&] { refused = commit(life.client, group("b")); });
  const auto waits = [&] {
    return sql(
        "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE "
        "d.datname = current_database() AND l.locktype = 'relation' AND NOT l.granted");
  };
  EXPECT_EQ(soon("1", waits), "1");
  other->script("ALTER TABLE store ADD note text; INSERT INTO schema_steps VALUES (" +
                std::to_string(known + 1) + ", 'of the future', '{}'); COMMIT");
  writer.join();
  EXPECT_TRUE(has(refused, "newer than " + std::to_string(known))) << refused;
}

}  // namespace
}  // namespace davit::storage_postgres

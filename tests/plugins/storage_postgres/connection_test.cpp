// Connections that fail, and what the errors say: what, where and what to do, and no password.
#include <fstream>

#include "davit/testing/temporary.hpp"
#include "fault.hpp"
#include "plugin_under_test.hpp"
#include "pool.hpp"

namespace davit::storage_postgres {
namespace {

class Connection : public WithPostgres {};

TEST_F(Connection, EachThatFailsSaysWhichDatabaseAndWhy) {
  struct Row {
    testing::Config config;
    const char *target, *error;
  };
  const std::string folder = shared_cluster().folder();
  for (const Row& row :
       {Row{{{"host", "/tmp/no-such-folder"}, {"user", "davit"}, {"database", "d"}},
            "database \"d\" on \"/tmp/no-such-folder\": ",
            "No such file or directory"},
        Row{{{"host", "127.0.0.1"}, {"port", 1}, {"user", "davit"}, {"database", "d"}},
            "database \"d\" on \"127.0.0.1\": ",
            "Connection refused"},
        Row{{{"host", folder}, {"user", "davit"}, {"database", "absent"}},
            "database \"absent\" on",
            "database \"absent\" does not exist"},
        Row{{{"host", folder}, {"user", "nobody"}, {"database", "postgres"}},
            "database \"postgres\" on",
            "role \"nobody\" does not exist"}}) {
    testing::Config quick = row.config;
    quick.set({"connect_timeout_ms", 200});
    for (const std::string& error : {start_error(quick), check_error(quick), migrate(quick)}) {
      EXPECT_TRUE(has(error, row.target)) << error;
      EXPECT_TRUE(has(error, row.error)) << error;
    }
  }
}

// Trying again does not cure a name, and would fill the server's log.
TEST_F(Connection, AWrongNameIsToldAtOnce) {
  testing::Config patient = config(shared_cluster(), "absent");
  patient.set({"connect_timeout_ms", 60'000});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(start_error(patient), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(Connection, APasswordIsNeverShownAndAChangedOneNeedsNoRestart) {
  test::Cluster cluster;
  cluster.sql("CREATE ROLE keeper LOGIN SUPERUSER PASSWORD '" + std::string(secret) + "'");
  cluster.admit(
      "local all davit trust\nlocal replication all trust\nlocal all keeper scram-sha-256\n");
  const testing::TemporaryDirectory folder;
  const auto write = [&](const std::string& password) {
    std::ofstream(folder.path() + "/password") << password << '\n';
  };
  testing::Config settings = config(cluster, "postgres");
  settings.set({"user", "keeper"}).set({"password_file", folder.path() + "/password"});
  settings.set({"connect_timeout_ms", 2'000});
  const std::string wrong = std::string(secret) + "-wrong";
  write(wrong);
  for (const std::string& error :
       {start_error(settings), check_error(settings), migrate(settings)}) {
    EXPECT_TRUE(has(error, "password authentication failed for user \"keeper\"")) << error;
    EXPECT_FALSE(has(error, secret)) << error;
  }
  write(secret);
  EXPECT_EQ(check_error(settings), "");
  Life life(settings);
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  EXPECT_EQ(commit(life.client, group("a")), "");
  cluster.sql("ALTER ROLE keeper PASSWORD 'another'");
  write("another");
  cluster.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'davit "
      "main'");
  EXPECT_EQ(commit(life.client, group("b")), "");
  write(wrong);
  cluster.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'davit "
      "main'");
  EXPECT_NE(commit(life.client, group("c")), "");
  for (const auto& line : life.host.log()) EXPECT_FALSE(has(line.text(), secret)) << line.text();
  EXPECT_FALSE(has(life.host.health_reason(), secret)) << life.host.health_reason();
}

TEST_F(Connection, APasswordFileThatCannotBeReadIsNamed) {
  testing::Config settings = config(shared_cluster(), "postgres");
  settings.set({"password_file", "/no/such/file"});
  EXPECT_TRUE(has(start_error(settings), "/no/such/file")) << start_error(settings);
}

TEST_F(Connection, ADatabaseWithAnotherEncodingIsRefused) {
  for (const char* encoding : {"SQL_ASCII", "LATIN1"}) {
    const std::string database = shared_cluster().database(std::string("ENCODING '") + encoding +
                                                           "' LOCALE 'C' TEMPLATE template0");
    const std::string error = start_error(config(shared_cluster(), database));
    EXPECT_TRUE(
        has(error, "its encoding is " + std::string(encoding) + ", and Davit's texts need UTF8"))
        << error;
    EXPECT_EQ(error, check_error(config(shared_cluster(), database)));
  }
}

TEST_F(Connection, AnotherCollationOfTheDatabaseDoesNotMatter) {
  const std::string database =
      shared_cluster().database("LOCALE_PROVIDER icu ICU_LOCALE 'en' TEMPLATE template0");
  Life life(shared_cluster(), database);
  for (const char* agent : {"b", "B", "a", "\xc3\xa9"})
    ASSERT_TRUE(life.client.progress({"r1", agent, "davit", 1, {}, {}, 1}).ok());
  std::vector<std::string> found;
  ASSERT_TRUE(life.client
                  .agents({},
                          [&](const davit_progress& p) {
                            found.push_back(text(p.agent));
                            return true;
                          })
                  .ok());
  EXPECT_EQ(found, (std::vector<std::string>{"B", "a", "b", "\xc3\xa9"}));
  ASSERT_EQ(commit(life.client, {{{record("a")}, {record("A")}}, "request\nprint"}), "");
  EXPECT_EQ(commit(life.client, {{{record("a")}, {record("A")}}, "request\nprint"}), "");
  EXPECT_EQ(life.client.head()->head.version, Version(2));
}

TEST(Server, OneThatIsTooOldIsRefused) {
  Session::Server server;
  server.encoding = "UTF8";
  server.version = 120'022;
  const auto r = judge_server(server);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message,
            "the server is PostgreSQL 12, and Davit needs 13 or newer: upgrade the server");
  server.version = 130'000;
  EXPECT_TRUE(judge_server(server).ok());
}

TEST(Fault, TheServersErrorsMeanWhatTheyMean) {
  struct Row {
    const char* sqlstate;
    Fault::Kind kind;
    Code code;
  };
  for (const Row& row : {Row{"40P01", Fault::Kind::conflict, Code::unavailable},
                         Row{"40001", Fault::Kind::conflict, Code::unavailable},
                         Row{"55P03", Fault::Kind::waited, Code::unavailable},
                         Row{"57014", Fault::Kind::stopped, Code::unavailable},
                         Row{"57P01", Fault::Kind::lost, Code::unavailable},
                         Row{"08006", Fault::Kind::lost, Code::unavailable},
                         Row{"53100", Fault::Kind::other, Code::resource_exhausted},
                         Row{"53300", Fault::Kind::other, Code::unavailable},
                         Row{"42501", Fault::Kind::other, Code::failed_precondition},
                         Row{"42P01", Fault::Kind::other, Code::failed_precondition},
                         Row{"25006", Fault::Kind::other, Code::failed_precondition},
                         Row{"XX001", Fault::Kind::other, Code::data_loss},
                         Row{"99999", Fault::Kind::other, Code::internal}}) {
    const Fault fault = fault_of(row.sqlstate, "ERROR:  it says\nDETAIL:  so");
    EXPECT_EQ(fault.kind(), row.kind) << row.sqlstate;
    EXPECT_EQ(fault.error().code, row.code) << row.sqlstate;
    EXPECT_TRUE(fault.error().message.starts_with("it says")) << fault.error().message;
    EXPECT_FALSE(has(fault.error().message, "DETAIL")) << "a detail may have values";
  }
}

}  // namespace
}  // namespace davit::storage_postgres

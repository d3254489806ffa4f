// The built plugin, instances of it on a database of a cluster, and records to put into it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "cluster.hpp"
#include "davit/storage.hpp"
#include "davit/storage_schema.hpp"
#include "davit/testing/module.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

inline const davit_plugin* plugin() {
  static const auto loaded = testing::Loaded::open(STORAGE_POSTGRES_SO);
  if (!loaded.ok()) ADD_FAILURE() << loaded.error().message;
  return loaded->plugin();
}

// The cluster that the tests of one process share. Those that stop or promote one have their own.
inline test::Cluster& shared_cluster() {
  static test::Cluster cluster;
  return cluster;
}

// Skipped, with a message, where PostgreSQL is not installed.
class WithPostgres : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::Cluster::programs().empty())
      GTEST_SKIP() << "PostgreSQL is not installed (packaging/install-dependencies.sh)";
  }
};

// With a database of its own.
class OnDatabase : public WithPostgres {
 protected:
  void SetUp() override {
    WithPostgres::SetUp();
    if (!IsSkipped()) database_ = shared_cluster().database();
  }
  std::string sql(const std::string& text) { return shared_cluster().sql(text, database_); }
  std::string database_;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Until the answer has the wanted text, for at most 20 seconds: PostgreSQL frees the locks of a
// connection soon after its end.
inline std::string soon(const std::string& wanted, const std::function<std::string()>& ask) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string answer = ask();
  while (!has(answer, wanted) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    answer = ask();
  }
  return answer;
}

// A password that no text may show.
constexpr const char* secret = "s3cr3t-do-not-show";

inline testing::Config config(const test::Cluster& cluster, const std::string& database) {
  return {{"host", cluster.folder()}, {"user", "davit"}, {"database", database}};
}

// A session of the cluster's owner, in the schema.
inline std::unique_ptr<Session> session_of(const testing::Config& config) {
  testing::TestHost host("main", config);
  const auto settings = PostgresSettings::read(host);
  return std::make_unique<Session>(settings, *settings.connection_text(host));
}

// One life of an instance.
struct Life {
  testing::TestHost host;
  testing::Instance instance;
  Result<> up;
  storage::Client client;

  explicit Life(const testing::Config& config)
      : host("main", config), instance(plugin(), host), up(instance.up()) {
    if (up.ok()) client = storage::Client(host, instance.ref(DAVIT_STORAGE));
  }
  Life(const test::Cluster& cluster, const std::string& database)
      : Life(config(cluster, database)) {
    EXPECT_TRUE(up.ok()) << up.error().message;
  }
};

// What a start, or another step of an instance, answers with this configuration. Empty: ok.
inline std::string start_error(const testing::Config& config) {
  Life life(config);
  return life.up.ok() ? "" : life.up.error().message;
}
inline std::string check_error(const testing::Config& config) {
  testing::TestHost host("main", config);
  testing::Instance instance(plugin(), host);
  if (auto r = instance.create(); !r.ok()) return r.error().message;
  if (auto r = instance.wire(); !r.ok()) return r.error().message;
  const auto r = instance.check();
  return r.ok() ? "" : r.error().message;
}
// The steps that `davit storage migrate` prints, or the error.
inline std::string migrate(const testing::Config& config, bool dry_run = false) {
  testing::TestHost host("main", config);
  testing::Instance instance(plugin(), host);
  if (auto r = instance.create(); !r.ok()) return r.error().message;
  if (auto r = instance.wire(); !r.ok()) return r.error().message;
  const auto steps = storage::Schemas(instance.ref(DAVIT_STORAGE_SCHEMA)).migrate(Op(), dry_run);
  return steps.ok() ? *steps : steps.error().message;
}

inline Record record(const std::string& id, const std::string& payload = "payload") {
  Record r;
  r.key = {"widget", "r1", id};
  r.ns = "default";
  r.name = id;
  r.state = "running";
  r.payload = payload;
  return r;
}
inline Group group(const std::string& id, const std::string& payload = "payload") {
  return {{{record(id, payload)}}, {}};
}
inline Status status(const std::string& id, const std::string& message) {
  Status s;
  s.key = {"widget", "r1", id};
  s.observed_version = 1;
  s.health = "healthy";
  s.message = message;
  s.epoch = 1;
  s.sequence = 1;
  return s;
}

// Empty, or what went wrong.
inline std::string commit(const storage::Client& client, const Group& g) {
  auto r = client.commit_now({g});
  if (!r.ok()) return r.error().message;
  return r->front().error ? r->front().error->message : "";
}

inline std::vector<std::string> ids(const storage::Client& client, Cursor after = {}) {
  std::vector<std::string> out;
  ReadRequest all;
  all.cursor = after;
  all.limit = 1'000'000;
  auto r = client.read(
      all, [&](const davit_record& found) { return out.push_back(text(found.key.id)), true; });
  EXPECT_TRUE(r.ok()) << r.error().message;
  return out;
}

}  // namespace davit::storage_postgres

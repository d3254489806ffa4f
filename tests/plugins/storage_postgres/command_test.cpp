// The commands of davit on a store in PostgreSQL.
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "davit/testing/temporary.hpp"
#include "plugin_under_test.hpp"
#include "presence.hpp"
#include "schema.hpp"

namespace davit::storage_postgres {
namespace {

class CommandTest : public OnDatabase {
 protected:
  void SetUp() override {
    OnDatabase::SetUp();
    if (IsSkipped()) return;
    config_ = folder_.path() + "/server.toml";
    std::ofstream(config_) << "[host]\nstate_dir = \"state\"\n[plugin.main]\nmodule = "
                              "\"storage_postgres\"\nuri = \"postgresql:///"
                           << database_ << "?host=" << shared_cluster().folder()
                           << "&user=davit\"\ncreate_schema = false\n";
  }
  // What it printed, after its exit code: "0 ...".
  std::string davit(const std::string& arguments) { return run(arguments + " " + config_); }
  static std::string run(const std::string& arguments) {
    const std::string command = DAVIT " " + arguments + " 2>&1";
    FILE* out = popen(command.c_str(), "r");
    std::string text;
    for (int c = fgetc(out); c != EOF; c = fgetc(out)) text += static_cast<char>(c);
    const int status = pclose(out);
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + " " + text;
  }
  std::string config_;
  testing::TemporaryDirectory folder_;
};

TEST_F(CommandTest, MigrateMakesTheSchemaThatRunAsksFor) {
  const std::string steps =
      "version 1: make the tables of the store\n"
      "version 2: make views for people: workloads, agent_progress\n"
      "version 3: make the table of intents\n";
  for (const char* command : {"run", "check"}) {
    const std::string refused = davit(command);
    EXPECT_EQ(refused[0], '2') << refused;
    EXPECT_NE(
        refused.find("schema \"davit\" does not exist: run `davit storage migrate CONFIG...`"),
        std::string::npos)
        << refused;
  }
  EXPECT_EQ(davit("storage migrate --dry-run"), "0 would be done:\n" + steps);
  EXPECT_EQ(davit("storage migrate --dry-run"), "0 would be done:\n" + steps);
  EXPECT_EQ(davit("storage migrate"), "0 done:\n" + steps);
  EXPECT_EQ(davit("storage migrate"), "0 the schema is the newest: nothing to do\n");
  EXPECT_EQ(davit("check")[0], '0');
  shared_cluster().sql("INSERT INTO davit.schema_steps VALUES (9, 'of the future', '{}')",
                       database_);
  const std::string newer = davit("storage migrate");
  EXPECT_EQ(newer[0], '1');
  EXPECT_NE(newer.find("has version 9, newer than 3"), std::string::npos) << newer;
}

// An older davit runs, so its servers are to be stopped first.
TEST_F(CommandTest, MigrateIsRefusedWhileAServerRuns) {
  const testing::Config in_database = storage_postgres::config(shared_cluster(), database_);
  const std::vector<SchemaStep> older(schema_steps().begin(), schema_steps().begin() + 2);
  ASSERT_TRUE(Schema("davit", older).migrate(*session_of(in_database), false).ok());
  auto server = session_of(in_database);
  share_store(*server, "davit");
  const std::string works = "a davit works with the store (session " +
                            std::to_string(server->connection().backendpid()) +
                            ", davit main): stop it first\n";
  const std::string refused = davit("storage migrate");
  EXPECT_TRUE(refused.starts_with("1 database \"" + database_ + "\" on ")) << refused;
  EXPECT_TRUE(has(refused, works)) << refused;
  const std::string step = "version 3: make the table of intents\n";
  EXPECT_EQ(davit("storage migrate --dry-run"),
            "0 would be done:\n" + step + "only listed, not tried: " + works);
  server.reset();
  EXPECT_EQ(soon("0 ", [&] { return davit("storage migrate"); }), "0 done:\n" + step);
}

// A store in a file, with records, statuses and an agent; what it has, as text.
class InAFile {
 public:
  explicit InAFile(const std::string& path)
      : loaded_(testing::Loaded::open(STORAGE_SQLITE_SO)),
        host_("main", {{"path", path}}),
        instance_(loaded_->plugin(), host_) {
    EXPECT_TRUE(instance_.up().ok());
    client_ = storage::Client(host_, instance_.ref(DAVIT_STORAGE));
  }
  ~InAFile() { EXPECT_TRUE(instance_.stop().ok()); }
  void fill() {
    for (int n = 0; n < 300; ++n) EXPECT_EQ(commit(client_, group("r" + std::to_string(n))), "");
    Record deleted = record("r7");
    deleted.live = false;
    deleted.state = "deleted";
    EXPECT_EQ(commit(client_, {{{deleted}}, {}}), "");
    Record again = record("r8");
    again.annotations = {{"b", "2"}, {"a", "\"1\""}};
    EXPECT_EQ(commit(client_, {{{again}}, "request"}), "");
    Status s = status("r8", "message");
    s.children = {{"pod", "10.0.0.1", "running", 100, 64}};
    EXPECT_TRUE(client_.report_now({status("r9", ""), s}).ok());
  }
  std::string text_of_all() const {
    std::string out = "head " + to_string(client_.head()->head.version) + " " +
                      to_string(client_.head()->status_head) + "\n";
    ReadRequest all;
    all.limit = 1'000'000;
    EXPECT_TRUE(client_
                    .read(all,
                          [&](const davit_record& r) {
                            out += text(r.key.id) + " " + std::to_string(r.version) + " " +
                                   text(r.name) + " " + text(r.state) + " " +
                                   std::string(view(r.payload)) + " " +
                                   std::to_string(r.committed_at_unix_ms);
                            for (const auto& [key, value] : from_abi(r).annotations)
                              out += " " + key + "=" + value;
                            return out += "\n", true;
                          })
                    .ok());
    EXPECT_TRUE(client_
                    .statuses({{}, {}, 1000, 1 << 20},
                              [&](const davit_status& s) {
                                out += text(s.key.id) + " " + std::to_string(s.status_version) +
                                       " " + text(s.message) + " " +
                                       std::to_string(s.children_count) + "\n";
                                return true;
                              })
                    .ok());
    return out;
  }

 private:
  Result<testing::Loaded> loaded_;
  testing::TestHost host_;
  testing::Instance instance_;
  storage::Client client_;
};

TEST_F(CommandTest, CopyBringsAStoreOutOfAFileAndBack) {
  const auto in_file = [&](const std::string& name) {
    const std::string config = folder_.path() + "/" + name + ".toml";
    std::ofstream(config) << "[host]\nstate_dir = \"state\"\n[plugin.main]\nmodule = "
                             "\"storage_sqlite\"\npath = \""
                          << folder_.path() << "/" << name << ".db\"\n";
    return config;
  };
  const std::string from = in_file("from"), back = in_file("back");
  std::string before;
  {
    InAFile store(folder_.path() + "/from.db");
    store.fill();
    before = store.text_of_all();
  }
  const std::string refused = run("storage copy --finish --from " + from + " --to " + config_);
  EXPECT_EQ(refused[0], '4') << refused;
  EXPECT_NE(refused.find("davit storage migrate"), std::string::npos) << refused;
  EXPECT_EQ(davit("storage migrate")[0], '0');
  const std::string there = run("storage copy --finish --from " + from + " --to " + config_);
  EXPECT_EQ(there[0], '0') << there;
  const std::string twice = run("storage copy --finish --from " + from + " --to " + config_);
  EXPECT_NE(twice[0], '0') << twice;
  EXPECT_NE(twice.find("is not empty: it has 300 records"), std::string::npos) << twice;
  EXPECT_EQ(shared_cluster().sql("SELECT count(*) FROM davit.records WHERE live", database_),
            "299");
  const std::string home = run("storage copy --finish --from " + config_ + " --to " + back);
  EXPECT_EQ(home[0], '0') << home;
  EXPECT_EQ(InAFile(folder_.path() + "/back.db").text_of_all(), before);
}

}  // namespace
}  // namespace davit::storage_postgres

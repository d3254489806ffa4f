// The commands of davit on a store in PostgreSQL.
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "davit/testing/temporary.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

class CommandTest : public WithPostgres {
 protected:
  void SetUp() override {
    WithPostgres::SetUp();
    if (IsSkipped()) return;
    database_ = shared_cluster().database();
    config_ = folder_.path() + "/server.toml";
    std::ofstream(config_) << "[host]\nstate_dir = \"state\"\n[plugin.main]\nmodule = "
                              "\"storage_postgres\"\nuri = \"postgresql:///"
                           << database_ << "?host=" << shared_cluster().folder()
                           << "&user=davit\"\ncreate_schema = false\n";
  }
  // What it printed, after its exit code: "0 ...".
  std::string davit(const std::string& arguments) {
    const std::string command = DAVIT " " + arguments + " " + config_ + " 2>&1";
    FILE* out = popen(command.c_str(), "r");
    std::string text;
    for (int c = fgetc(out); c != EOF; c = fgetc(out)) text += static_cast<char>(c);
    const int status = pclose(out);
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + " " + text;
  }
  std::string database_, config_;
  testing::TemporaryDirectory folder_;
};

TEST_F(CommandTest, MigrateMakesTheSchemaThatRunAsksFor) {
  const std::string steps =
      "version 1: make the tables of the store\n"
      "version 2: make views for people: workloads, agent_progress\n";
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
  EXPECT_NE(newer.find("has version 9, newer than 2"), std::string::npos) << newer;
}

}  // namespace
}  // namespace davit::storage_postgres

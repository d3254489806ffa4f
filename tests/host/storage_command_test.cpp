// `davit storage` against a server that runs, and against the store of one that does not.
#include <sqlite3.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include "program.hpp"

namespace davit::test {
namespace {

class StorageCommand : public testing::Test {
 protected:
  StorageCommand()
      : server_("unix:" + folder_.path() + "/operator.sock"),
        config_(folder_.write("server.toml",
                              "[host]\nstate_dir = \"state\"\n[rpc.server.operator]\nlisten = \"" +
                                  server_ +
                                  "\"\n[plugin.main]\nmodule = \"storage_sqlite\"\n"
                                  "[plugin.desired]\nmodule = \"desired\"\nstorage = \"main\"\n")),
        copy_(folder_.path() + "/copy") {}

  // What it printed, after its exit code: "0 ...".
  std::string storage(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "storage");
    arguments.insert(arguments.end(), {"--server", server_});
    Process davit(std::move(arguments));
    const int code = davit.wait();
    return std::to_string(code) + " " + davit.out() + davit.err();
  }
  static bool begins(const std::string& text, const std::string& with) {
    return text.starts_with(with);
  }

  Folder folder_;
  const std::string server_, config_, copy_;
};

TEST_F(StorageCommand, CopiesARunningStoreAndBringsItBackWhenItIsStopped) {
  const std::string database = folder_.path() + "/state/main/davit.db";
  {
    Process server({"run", config_});
    ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
    EXPECT_PRED2(begins, storage({"backup", copy_}),
                 "0 " + copy_ + ": 0.1 MiB, verified; version 0");
    EXPECT_PRED2(begins, storage({"verify"}), "0 the store is whole: 0.1 MiB; version 0");
    EXPECT_PRED2(begins, storage({"verify", copy_}), "0 " + copy_ + " is whole");
    EXPECT_EQ(storage({"backup", copy_}),
              "4 davit storage: \"" + copy_ + "\": is there already: choose another name\n");
    EXPECT_PRED2(begins, storage({"restore", copy_, config_}),
                 "1 database \"" + database + "\": is in use by another process");
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0) << server.err();
  }
  EXPECT_PRED2(begins, storage({"restore", copy_, config_}),
               "0 restored: version 0 is the newest\nthe store that was there is now " + database +
                   ".before-");
  EXPECT_EQ(storage({"migrate", config_}),
            "2 no storage of these files has a schema that is migrated\n");
  EXPECT_EQ(storage({"restore", copy_ + "2", config_}),
            "1 \"" + copy_ + "2\": cannot be read: No such file or directory\n");
  Process server({"run", config_});
  EXPECT_TRUE(server.wait_for_line("ready")) << server.err();
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

// "700 state/main": each file and folder of the test, of the server's making or of a command's.
std::set<std::string> modes(const std::string& folder) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::ostringstream line;
    line << std::oct << static_cast<unsigned>(entry.symlink_status().permissions()) << ' '
         << entry.path().lexically_relative(folder).string();
    out.insert(line.str());
  }
  return out;
}

TEST_F(StorageCommand, WhatItMakesIsForItsUserAloneWhateverTheUmask) {
  const mode_t before = umask(0);
  std::filesystem::permissions(config_, std::filesystem::perms::owner_read);
  {
    Process server({"run", config_});
    ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
    EXPECT_PRED2(begins, storage({"backup", copy_}), "0 ");
    EXPECT_EQ(modes(folder_.path()),
              (std::set<std::string>{"400 server.toml", "600 copy", "600 operator.sock",
                                     "600 state/main/davit.db", "600 state/main/davit.db-shm",
                                     "600 state/main/davit.db-wal", "600 state/main/davit.db.lock",
                                     "700 state", "700 state/main"}));
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0) << server.err();
  }
  std::filesystem::remove_all(folder_.path() + "/state");
  EXPECT_PRED2(begins, storage({"restore", copy_, config_}), "0 ");
  umask(before);
  EXPECT_EQ(modes(folder_.path() + "/state"),
            (std::set<std::string>{"600 main/davit.db", "600 main/davit.db.lock", "700 main"}));
}

// The store of another server. `settings` are more keys of its storage.
class MoveCommand : public StorageCommand {
 protected:
  MoveCommand() : target_(target("new", "")) {}
  std::string target(const std::string& name, const std::string& settings,
                     const std::string& module = "storage_sqlite") {
    return folder_.write(name + ".toml", "[host]\nstate_dir = \"" + name +
                                             "\"\n[plugin.main]\nmodule = \"" + module + "\"\n" +
                                             settings);
  }
  std::string copy(const std::string& to, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"copy", "--from", config_, "--to", to};
    all.insert(all.end(), more.begin(), more.end());
    return storage(all);
  }
  // A store with one record.
  void fill() {
    Process server({"run", config_});
    ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0) << server.err();
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder_.path() + "/state/main/davit.db").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db,
                           "INSERT INTO records VALUES (1, 1, 0, 7, 'widget', 'r1', 'a', 'ns', "
                           "'a', 'running', '', '', NULL, '{}', x'00'); UPDATE store SET head = 1",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(db);
  }
  const std::string target_;
};

TEST_F(MoveCommand, SaysWhatToDoNextAtEachStep) {
  fill();
  EXPECT_EQ(copy(target_, {"--dry-run"}),
            "0 would copy 1 record and 0 statuses; nothing was changed\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/new"));
  const std::string again =
      "davit storage copy --from " + config_ + " --to " + target_ + " --finish";
  EXPECT_EQ(copy(target_),
            "0 copied 1 record and 0 statuses, up to version 1; the copy is not complete, and no "
            "server starts on it\nnext:\n  1. repeat this command just before the last step: it "
            "copies what is new\n  2. stop the server of " +
                config_ + "\n  3. " + again + "\n");
  Process refused({"run", target_});
  EXPECT_EQ(refused.wait(), 2);
  EXPECT_NE(refused.err().find("a copy into it is not complete"), std::string::npos)
      << refused.err();
  const std::string done = copy(target_, {"--finish"});
  EXPECT_PRED2(begins, done, "0 source ");
  EXPECT_NE(done.find(", the same: 1 record and 0 statuses, 0 agents\ncomplete: version 1 is the "
                      "newest\nnext: start the server with " +
                      target_ + ", and never again with " + config_ + "\n"),
            std::string::npos)
      << done;
  Process server({"run", target_});
  EXPECT_TRUE(server.wait_for_line("ready")) << server.err();
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  EXPECT_PRED2(begins, copy(target_), "4 davit storage copy: " + target_ + ": database ");
}

TEST_F(MoveCommand, SaysWhyItDoesNotCopy) {
  EXPECT_EQ(copy(config_), "4 davit storage copy: both sides name the same store\n");
  EXPECT_PRED2(begins, copy(target_), "4 davit storage copy: " + config_ + ": plugin \"main\": ");
  fill();
  const std::string same = target("same", "path = \"" + folder_.path() + "/state/main/davit.db\"");
  EXPECT_NE(copy(same).find("is not empty: it has 1 record, and its newest version is 1"),
            std::string::npos)
      << copy(same);
  EXPECT_PRED2(begins, copy(target("none", "", "storage_nowhere")), "2 ");
  EXPECT_PRED2(begins, copy(folder_.path() + "/missing.toml"), "2 ");
  EXPECT_PRED2(begins, storage({"copy"}), "2 davit storage: copy from which configuration file");
  EXPECT_PRED2(begins, copy(target_, {"--finish", "--dry-run"}), "2 davit storage: --finish and");
  const std::string memory = target("memory", "path = \":memory:\"");
  EXPECT_NE(copy(memory).find("a database in memory takes no copy"), std::string::npos)
      << copy(memory);
}

TEST_F(MoveCommand, FinishesOnlyWhenTheSourceIsStopped) {
  fill();
  Process server({"run", config_});
  ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
  EXPECT_PRED2(begins, copy(target_), "0 copied 1 record");
  EXPECT_PRED2(begins, copy(target_, {"--finish"}),
               "6 davit storage copy: the server of the source must be stopped for --finish: ");
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  EXPECT_PRED2(begins, copy(target_, {"--finish", "-o", "json"}), "0 {\n  \"complete\": true");
}

TEST_F(StorageCommand, CheckFindsAStateFolderThatCannotBeMade) {
  folder_.write("state", "a file");
  Process davit({"check", config_});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_PRED2(begins, davit.err(),
               config_ + ":5: plugin.main: state directory " + folder_.path() +
                   "/state/main cannot be made (Not a directory)");
}

TEST_F(StorageCommand, SaysHowItIsMeant) {
  EXPECT_PRED2(begins, storage({}),
               "2 davit storage: what? (backup, restore, verify, maintain, migrate or copy)");
  EXPECT_PRED2(begins, storage({"backup"}), "2 davit storage: backup into which file?");
  EXPECT_PRED2(begins, storage({"restore", "x"}), "2 davit storage: restore which file, for");
  EXPECT_PRED2(begins, storage({"maintain", "x"}), "2 davit storage: unexpected \"x\"");
}

}  // namespace
}  // namespace davit::test

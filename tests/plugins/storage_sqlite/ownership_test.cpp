// Who may open a database, and what `davit check` may do.
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <filesystem>

#include "lock.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

namespace fs = std::filesystem;

std::string in_use(const std::string& path, pid_t pid) {
  return "database \"" + path + "\": is in use by another process (pid " + std::to_string(pid) +
         "): stop it or choose another path";
}

TEST(Ownership, ASecondInstanceIsRefusedUntilTheFirstHasStopped) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life first(path);
  ASSERT_TRUE(first.up.ok());
  {
    Life second(path);
    ASSERT_FALSE(second.up.ok());
    EXPECT_EQ(second.up.error().message, in_use(path, getpid()));
  }
  EXPECT_EQ(commit(first.client, group("a")), "") << "the refused one has disturbed the owner";
  ASSERT_TRUE(first.instance.stop().ok());
  Life third(path);
  EXPECT_TRUE(third.up.ok());
}

TEST(Ownership, TheOtherProcessIsNamedAndItsDeathFreesTheFile) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto lock = Lock::take(path);
    if (::write(ready[1], lock.ok() ? "1" : "0", 1) != 1) _exit(1);
    while (true) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, '1');
  {
    Life life(path);
    ASSERT_FALSE(life.up.ok());
    EXPECT_EQ(life.up.error().message, in_use(path, child));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  Life life(path);
  EXPECT_TRUE(life.up.ok());
}

TEST(Ownership, ALinkToTheFileIsTheFile) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db", link = directory.path() + "/link.db";
  Life first(path);
  ASSERT_TRUE(first.up.ok());
  fs::create_symlink(path, link);
  Life second(link);
  ASSERT_FALSE(second.up.ok());
  EXPECT_EQ(second.up.error().message, in_use(path, getpid()));
}

TEST(Ownership, CheckTakesNoLockAndLeavesNoTrace) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  const auto check = [&](const testing::Config& config) -> Result<> {
    testing::TestHost host("checked", config);
    testing::Instance instance(plugin(), host);
    EXPECT_TRUE(instance.create().ok());
    auto r = instance.check();
    EXPECT_FALSE(fs::exists(host.state_directory()));
    return r;
  };
  EXPECT_TRUE(check({{"path", path}}).ok());
  EXPECT_TRUE(fs::is_empty(directory.path()));
  EXPECT_TRUE(check({{"path", ":memory:"}}).ok());
  EXPECT_TRUE(check({}).ok());
  Life owner(path);
  ASSERT_TRUE(owner.up.ok());
  const auto owned = check({{"path", path}});
  ASSERT_FALSE(owned.ok());
  EXPECT_EQ(owned.error().message, in_use(path, getpid()));
  EXPECT_EQ(owned.error().code, Code::unavailable) << "a start would do when the owner has gone";
  EXPECT_EQ(commit(owner.client, group("a")), "");
}

TEST(Ownership, TheDefaultFileIsInTheStateDirectory) {
  testing::TestHost host("main");
  testing::Instance instance(plugin(), host);
  ASSERT_TRUE(instance.up().ok());
  EXPECT_TRUE(fs::exists(host.state_directory() + "/davit.db"));
  EXPECT_TRUE(host.logged("info: database open path=" + host.state_directory() + "/davit.db"));
  EXPECT_EQ(host.health(), DAVIT_HEALTH_SERVING);
}

TEST(Ownership, ACleanStopLeavesNoJournal) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  {
    Life life(path);
    ASSERT_EQ(commit(life.client, group("a")), "");
    EXPECT_EQ(count(life.client), 1u);
    EXPECT_TRUE(fs::exists(path + "-wal"));
  }
  EXPECT_FALSE(fs::exists(path + "-wal"));
  Life again(path);
  EXPECT_EQ(count(again.client), 1u);
}

}  // namespace
}  // namespace davit::storage_sqlite

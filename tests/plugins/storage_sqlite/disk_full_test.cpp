// A disk that is full while committing: a clear answer, nothing lost, and later commits work again.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

const std::string full = "no space is left on its disk: make room; nothing was written";

// A limit on the size of every file this process writes stands in for the full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit lower{bytes, old_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(DiskFull, ACommitThatFindsNoRoomIsToldSoAndLosesNothing) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  size_t before = 0;
  {
    Life life(path);
    ASSERT_TRUE(life.up.ok());
    ASSERT_EQ(commit(life.client, group("first")), "");
    int failures = 0;
    {
      const FileSizeLimit limit(400'000);
      for (int i = 0; failures < 3 && i < 1000; ++i) {
        const auto failed =
            commit(life.client, group("a" + std::to_string(i), std::string(10'000, 'x')));
        if (failed.empty()) {
          EXPECT_EQ(failures, 0);
          continue;
        }
        ++failures;
        EXPECT_EQ(failed, "storage \"main\": " + full) << "callers learn no path";
      }
      EXPECT_EQ(failures, 3);
      EXPECT_EQ(life.host.health(), DAVIT_HEALTH_DEGRADED);
      before = count(life.client);  // reads go on
      EXPECT_GT(before, 5u);
      EXPECT_FALSE(life.client.report_now({status("first", std::string(100'000, 'm'))}).ok());
    }
    auto results = life.client.commit_now({group("b"), group("c")});
    ASSERT_TRUE(results.ok());
    EXPECT_FALSE((*results)[0].error);
    EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
    EXPECT_TRUE(life.host.logged("error: database fails doing=writing error=database \"" + path +
                                 "\": " + full));
    EXPECT_TRUE(life.host.logged("info: database works again doing=writing failures=4"));
    EXPECT_EQ(count(life.client), before + 2);
  }
  Life again(path);
  ASSERT_TRUE(again.up.ok());
  EXPECT_EQ(count(again.client), before + 2);
}

TEST(DiskFull, EveryGroupOfTheCallIsToldWithACodeThatSaysTryLater) {
  const testing::TemporaryDirectory directory;
  Life life(directory.path() + "/davit.db");
  ASSERT_TRUE(life.up.ok());
  const FileSizeLimit limit(200'000);
  auto results =
      life.client.commit_now({group("small"), group("large", std::string(400'000, 'x'))});
  ASSERT_TRUE(results.ok());
  for (const auto& r : *results) {
    ASSERT_TRUE(r.error);
    EXPECT_EQ(r.error->code, Code::resource_exhausted);
  }
  EXPECT_EQ(count(life.client), 0u);
  EXPECT_EQ(life.client.head()->head.version, Version(0));
}

// On a file system that is really full, where this process may mount one.
int fill_a_small_file_system(const std::string& at) {
  if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (mount("tmpfs", at.c_str(), "tmpfs", 0, "size=1m") != 0) return 77;
  const std::string path = at + "/davit.db", ballast = at + "/ballast";
  std::ofstream(ballast) << std::string(300'000, 'b');
  size_t written = 0;
  {
    Life life(path);
    if (!life.up.ok()) return 2;
    std::string failed;
    while (failed.empty()) {
      failed = commit(life.client, group("a" + std::to_string(written++), std::string(5'000, 'x')));
    }
    if (failed != "storage \"main\": " + full) {
      std::fprintf(stderr, "%s\n", failed.c_str());
      return 3;
    }
    --written;
    if (count(life.client) != written) return 4;
    std::filesystem::remove(ballast);
    if (!commit(life.client, group("after")).empty()) return 5;
  }
  Life again(path);
  return again.up.ok() && count(again.client) == written + 1 ? 0 : 6;
}

TEST(DiskFull, OnARealFileSystemToo) {
  const testing::TemporaryDirectory directory;
  const pid_t child = fork();
  if (child == 0) _exit(fill_a_small_file_system(directory.path()));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount a file system";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace davit::storage_sqlite

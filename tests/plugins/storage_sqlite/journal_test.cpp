// The journal is moved into the file beside the commits, not by one of them.
#include <chrono>
#include <filesystem>
#include <thread>

#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

// By nobody but the thread for it: there are too few pages for a commit to move them.
TEST(Journal, IsMovedWithoutACommitThatDoesIt) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  ASSERT_TRUE(life.up.ok());
  const auto new_file = std::filesystem::file_size(path);
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(commit(life.client, group("a" + std::to_string(i), std::string(20'000, 'x'))), "");
  for (int i = 0; i < 3'000 && std::filesystem::file_size(path) < new_file + (4u << 20); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(std::filesystem::file_size(path), new_file + (4u << 20));
}

TEST(Journal, StaysBoundedUnderCommitsThatNeverPause) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  ASSERT_TRUE(life.up.ok());
  const auto new_file = std::filesystem::file_size(path);
  const std::string payload(20'000, 'x');
  uintmax_t longest = 0;
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_EQ(commit(life.client, group("a" + std::to_string(i % 10), payload)), "");
    longest = std::max(longest, std::filesystem::file_size(path + "-wal"));
  }
  // 3,000 commits write about 130 MB. On a machine that is busy with other things, one of them
  // moves the journal itself when it has 16,000 pages; and a few more may have come by then.
  EXPECT_LT(longest, 17'000u * (4'096 + 24));
  EXPECT_GT(std::filesystem::file_size(path), new_file);
  EXPECT_EQ(count(life.client), 10u);
}

TEST(Journal, IsMadeShortByTheUpkeepWhileNobodyReads) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(commit(life.client, group("a" + std::to_string(i), std::string(20'000, 'x'))), "");
  EXPECT_GT(std::filesystem::file_size(path + "-wal"), 1u << 20);
  // While the commits' own checkpoint is still at work, an upkeep leaves the journal to the next.
  for (int i = 0; i < 500 && std::filesystem::file_size(path + "-wal") != 0; ++i) {
    ASSERT_TRUE(life.client.maintain({}).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(std::filesystem::file_size(path + "-wal"), 0u);
  EXPECT_EQ(count(life.client), 300u);
}

// Another program's transaction that nobody ends, say.
TEST(Journal, ThatAReaderHoldsIsToldOfOnce) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  ASSERT_EQ(commit(life.client, group("a")), "");
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN; SELECT * FROM records", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const std::string payload(2'000'000, 'x');
  for (int i = 0; i < 80; ++i) ASSERT_EQ(commit(life.client, group("a", payload)), "");
  EXPECT_TRUE(
      life.host.logged("warn: the journal grows: another program, or a backup, reads the "
                       "database and does not end"));
  EXPECT_TRUE(life.client.maintain({}).ok()) << "it does not wait for the reader";
  sqlite3_close(other);
}

}  // namespace
}  // namespace davit::storage_sqlite

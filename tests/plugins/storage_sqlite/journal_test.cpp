// The journal is moved into the file beside the commits, not by one of them.
#include <filesystem>

#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

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
  // 3,000 commits wrote about 130 MB; at 64 MB one of them would have moved the journal.
  EXPECT_LT(longest, 48u << 20);
  EXPECT_GT(std::filesystem::file_size(path), new_file);
  EXPECT_EQ(count(life.client), 10u);
}

}  // namespace
}  // namespace davit::storage_sqlite

// Backup, verify and restore, as an operator uses them.
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "davit/storage_copy.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

using Tell = storage::CopyProgress;
const Tell on = [](uint64_t, uint64_t) { return true; };

class CopyTest : public ::testing::Test {
 protected:
  static storage::Copies copies(Life& life) {
    return storage::Copies(life.instance.ref(DAVIT_STORAGE_COPY));
  }
  // By an instance that is not started.
  Result<storage::Restored> restore(const std::string& copy) {
    testing::TestHost host("main", {{"path", path_}});
    testing::Instance instance(plugin(), host);
    EXPECT_TRUE(instance.create().ok());
    return storage::Copies(instance.ref(DAVIT_STORAGE_COPY)).restore(copy);
  }
  // Everything in the folder but what the database itself makes.
  std::string others() const {
    std::string out;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("davit.db")) out += name + " ";
    }
    return out;
  }
  testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/davit.db", copy_ = directory_.path() + "/copy";
};

TEST_F(CopyTest, ABackupIsOneStateOfAStoreThatGoesOnWriting) {
  Life life(path_);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(commit(life.client, group("a" + std::to_string(i), std::string(20'000, 'x'))), "");
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (int i = 0; !over; ++i) commit(life.client, group("b" + std::to_string(i % 50)));
  });
  uint64_t done = 0, total = 0;
  const auto backup = copies(life).backup(copy_, [&](uint64_t d, uint64_t t) {
    if (t != 0) done = d, total = t;
    return true;
  });
  over = true;
  writer.join();
  ASSERT_TRUE(backup.ok()) << backup.error().message;
  EXPECT_EQ(done, total);
  EXPECT_GE(backup->head.version, Version(200));
  EXPECT_GT(backup->bytes, 4'000'000u);
  struct stat status {};
  ASSERT_EQ(stat(copy_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(others(), "copy ");
  EXPECT_TRUE(copies(life).verify(copy_, on).ok());
  EXPECT_TRUE(copies(life).verify("", on).ok());
}

TEST_F(CopyTest, ABackupTakesNoNameThatIsThereAndLeavesNothingWhenItIsEnded) {
  Life life(path_);
  ASSERT_EQ(commit(life.client, group("a")), "");
  std::ofstream(copy_) << "mine";
  auto refused = copies(life).backup(copy_, on);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "\"" + copy_ + "\": is there already: choose another name");
  std::filesystem::remove(copy_);
  auto ended = copies(life).backup(copy_, [](uint64_t, uint64_t) { return false; });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::cancelled);
  EXPECT_EQ(copies(life).backup("copy", on).error().message, "\"copy\": must be an absolute path");
  EXPECT_EQ(others(), "");
}

TEST_F(CopyTest, ABackupOntoAFullDiskSaysSoAndLeavesNothing) {
  Life life(path_);
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(commit(life.client, group("a" + std::to_string(i), std::string(20'000, 'x'))), "");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{300'000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  auto full = copies(life).backup(copy_, on);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message,
            "\"" + copy_ +
                "\": cannot be written: no space is left on its disk; nothing "
                "was kept");
  EXPECT_EQ(full.error().code, Code::resource_exhausted);
  EXPECT_EQ(others(), "");
  EXPECT_EQ(commit(life.client, group("after")), "");
}

TEST_F(CopyTest, VerifyFindsWhatSQLiteAndTheTablesSay) {
  {
    Life life(path_);
    ASSERT_EQ(commit(life.client, group("a")), "");
    ASSERT_TRUE(copies(life).backup(copy_, on).ok());
  }
  const std::string beside = directory_.path() + "/davit.db-beside";
  const std::pair<const char*, const char*> faults[] = {
      {"UPDATE store SET head = 0", "a record is above the head (a)"},
      {"UPDATE store SET purged_through = 9", "a counter is out of order (store)"},
      {"INSERT INTO children VALUES ('k', 'r', 'x', 'n', '', '', 0, 0)",
       "a child is of no status (x)"},
      {"DELETE FROM store", "the store's counters are missing (store)"}};
  Life life(directory_.path() + "/davit.db-other");
  for (const auto& [text, found] : faults) {
    std::filesystem::copy_file(copy_, beside, std::filesystem::copy_options::overwrite_existing);
    sql(beside, text);
    const auto verified = copies(life).verify(beside, on);
    ASSERT_FALSE(verified.ok()) << text;
    EXPECT_EQ(verified.error().code, Code::data_loss);
    EXPECT_NE(verified.error().message.find(found), std::string::npos) << verified.error().message;
  }
  std::filesystem::resize_file(beside, std::filesystem::file_size(beside) / 2);
  EXPECT_EQ(copies(life).verify(beside, on).error().code, Code::data_loss);
}

TEST_F(CopyTest, AVerificationThatNobodyWantsAnyMoreEnds) {
  Life life(path_);
  for (int i = 0; i < 20; ++i) {
    Group many;
    for (int k = 0; k < 1'000; ++k)
      many.mutations.push_back(group(std::to_string(i) + "-" + std::to_string(k)).mutations[0]);
    ASSERT_EQ(commit(life.client, many), "");
  }
  int asked = 0;
  const auto ended = copies(life).verify("", [&](uint64_t, uint64_t) { return ++asked < 3; });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::cancelled) << ended.error().message;
  EXPECT_TRUE(copies(life).verify("", on).ok());
}

TEST_F(CopyTest, ARestoreKeepsTheOldStoreAsideAndBeginsAnIncarnation) {
  Cursor copied, lost;
  {
    Life life(path_);
    ASSERT_EQ(commit(life.client, group("a")), "");
    copied = life.client.head()->head;
    ASSERT_TRUE(copies(life).backup(copy_, on).ok());
    ASSERT_EQ(commit(life.client, group("b")), "");
    lost = life.client.head()->head;
    const auto live = restore(copy_);
    ASSERT_FALSE(live.ok());
    EXPECT_EQ(live.error().code, Code::unavailable) << live.error().message;
  }
  const auto restored = restore(copy_);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_TRUE(restored->aside.starts_with(path_ + ".before-")) << restored->aside;
  EXPECT_EQ(restored->copied.head.version, Version(1));
  {
    Life life(path_);
    ASSERT_TRUE(life.up.ok()) << life.up.error().message;
    EXPECT_EQ(count(life.client), 1u);
    ASSERT_EQ(commit(life.client, group("c")), "");
    ReadRequest after_copy, after_lost;
    after_copy.cursor = copied;
    after_lost.cursor = lost;
    after_copy.limit = after_lost.limit = 9;
    const auto any = [](const davit_record&) { return true; };
    EXPECT_TRUE(life.client.read(after_copy, any).ok());
    EXPECT_EQ(life.client.read(after_lost, any).error().code, Code::out_of_range);
  }
  Life old(restored->aside);
  EXPECT_EQ(count(old.client), 2u);
}

TEST_F(CopyTest, AStoreThatWasKilledIsKeptAsideWithItsJournal) {
  {
    Life life(path_);
    ASSERT_EQ(commit(life.client, group("a")), "");
    ASSERT_TRUE(copies(life).backup(copy_, on).ok());
    ASSERT_EQ(commit(life.client, group("b")), "");
    for (const char* part : {"", "-wal"})
      std::filesystem::copy_file(path_ + part, path_ + ".killed" + part);
  }
  for (const char* part : {"", "-wal"})
    std::filesystem::rename(path_ + ".killed" + part, path_ + part);
  const auto restored = restore(copy_);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  Life life(path_), old(restored->aside);
  EXPECT_EQ(count(life.client), 1u) << "the old journal has met the new file";
  EXPECT_EQ(count(old.client), 2u);
}

TEST_F(CopyTest, ARestoreThatWasKilledKeepsAStartOutUntilItIsRepeated) {
  {
    Life life(path_);
    ASSERT_EQ(commit(life.client, group("a")), "");
    ASSERT_TRUE(copies(life).backup(copy_, on).ok());
  }
  std::filesystem::copy_file(copy_, path_ + ".restore");
  {
    Life life(path_);
    ASSERT_FALSE(life.up.ok());
    EXPECT_EQ(life.up.error().message, "database \"" + path_ +
                                           "\": a restore of it was interrupted: repeat `davit "
                                           "storage restore`");
  }
  ASSERT_TRUE(restore(copy_).ok());
  Life life(path_);
  EXPECT_TRUE(life.up.ok());
}

TEST_F(CopyTest, StartsThatComeToNothingLeaveNoIncarnation) {
  const auto incarnations = [&] {
    sqlite3* db = nullptr;
    int n = 0;
    sqlite3_open(path_.c_str(), &db);
    sqlite3_exec(
        db, "SELECT count(*) FROM incarnations",
        [](void* out, int, char** values, char**) {
          *static_cast<int*>(out) = std::atoi(values[0]);
          return 0;
        },
        &n, nullptr);
    sqlite3_close(db);
    return n;
  };
  {
    Life life(path_);
    ASSERT_EQ(commit(life.client, group("a")), "");
  }
  EXPECT_EQ(incarnations(), 1);
  for (int i = 0; i < 5; ++i) {
    Life life(path_);
    ASSERT_TRUE(life.client.head().ok());
  }
  EXPECT_EQ(incarnations(), 1);
  {
    Life life(path_);
    const auto history = life.client.history();
    ASSERT_TRUE(history.ok());
    EXPECT_EQ(history->back().incarnation, life.client.head()->head.incarnation);
  }
  EXPECT_EQ(incarnations(), 2) << "whoever was told of one must find it again";
}

}  // namespace
}  // namespace davit::storage_sqlite

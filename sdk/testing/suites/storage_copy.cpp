// Backup, verify and restore (abi/storage_copy.h), for a storage that offers them.
#include <filesystem>

#include "davit/storage_copy.hpp"
#include "storage.hpp"

namespace davit::conformance {
namespace {

const storage::CopyProgress on = [](uint64_t, uint64_t) { return true; };

class StorageCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (store_.fresh().instance().role<void>(DAVIT_STORAGE_COPY) == nullptr)
      GTEST_SKIP() << "this storage makes no copies of itself";
  }
  storage::Copies copies() {
    return storage::Copies(store_.fresh().instance().ref(DAVIT_STORAGE_COPY));
  }
  testing::TemporaryDirectory folder_;
  const std::string copy_ = folder_.path() + "/copy";
  Store store_;
};

TEST_F(StorageCopy, ABackupHasWhatIsCommittedAndIsOnlyItsOwnersToRead) {
  put(*store_, record("a"));
  const Version head = put(*store_, record("b"));
  const auto made = copies().backup(copy_, on);
  ASSERT_TRUE(made.ok()) << why(made);
  EXPECT_EQ(made->head.version, head);
  const auto mode = std::filesystem::status(copy_).permissions();
  EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
  put(*store_, record("c"));
  const auto verified = copies().verify(copy_, on);
  ASSERT_TRUE(verified.ok()) << why(verified);
  EXPECT_EQ(verified->head.version, head);
  EXPECT_TRUE(copies().verify("", on).ok());
}

TEST_F(StorageCopy, ABackupThatFailsLeavesNothingAndOneThatIsThereStays) {
  put(*store_, record("a"));
  const auto ended = copies().backup(copy_, [](uint64_t, uint64_t) { return false; });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::cancelled) << why(ended);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  ASSERT_TRUE(copies().backup(copy_, on).ok());
  const auto again = copies().backup(copy_, on);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::already_exists) << why(again);
}

TEST_F(StorageCopy, ARestoreBringsBackTheCopyInAnotherIncarnation) {
  if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  put(*store_, record("a"));
  const Cursor copied = store_->head()->head;
  ASSERT_TRUE(copies().backup(copy_, on).ok());
  put(*store_, record("b"));
  ASSERT_TRUE(store_->report_now({status("a", 1)}).ok());
  const Cursor lost = store_->head()->head;
  const Cursor lost_status{lost.incarnation, store_->head()->status_head};
  EXPECT_EQ(copies().restore(copy_).error().code, Code::unavailable) << "it is open";
  const Config config = store_.fresh().config();
  store_.stop();
  {
    TestHost host("subject", config);
    Instance stopped(subject().plugin.plugin(), host);
    ASSERT_TRUE(stopped.create().ok());
    const auto restored = storage::Copies(stopped.ref(DAVIT_STORAGE_COPY)).restore(copy_);
    ASSERT_TRUE(restored.ok()) << why(restored);
    EXPECT_FALSE(restored->aside.empty());
  }
  store_.start();
  EXPECT_TRUE(get(*store_, "a"));
  EXPECT_FALSE(get(*store_, "b"));
  for (const char* id : {"c", "d"}) put(*store_, record(id));
  const auto read = [&](Cursor cursor) {
    return store_->read({{}, cursor, 0, 100, UINT64_MAX}, [](const davit_record&) { return true; });
  };
  EXPECT_TRUE(read(copied).ok());
  EXPECT_EQ(read(lost).error().code, Code::out_of_range);
  ASSERT_TRUE(store_->report_now({status("a", 2)}).ok());
  expect_refused_status(*store_, lost_status);
}

}  // namespace
}  // namespace davit::conformance

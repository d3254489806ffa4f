// What the metrics say of an open database.
#include <sys/statvfs.h>

#include <cmath>
#include <filesystem>

#include "lock.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

class GaugesTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/davit.db";

  static double gauge(const Life& life, const std::string& what) {
    return life.host.metric("davit_storage_" + what, {{"storage", "main"}});
  }
  static bool comes_to(Life& life, const std::string& what, double value) {
    return life.host.run_until([&] { return gauge(life, what) == value; });
  }
  static Group deleted(const std::string& id) {
    Group g = group(id);
    g.mutations[0].record.live = false;
    g.mutations[0].record.state = "deleted";
    return g;
  }
};

TEST_F(GaugesTest, SayWhatThereIs) {
  Life life(path_, 10);
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  for (const char* id : {"a", "b", "c"}) ASSERT_EQ(commit(life.client, group(id)), "");
  ASSERT_EQ(commit(life.client, deleted("b")), "");
  ASSERT_TRUE(life.client.report_now({status("a", "up")}).ok());
  EXPECT_TRUE(comes_to(life, "statuses", 1)) << gauge(life, "statuses");
  EXPECT_TRUE(comes_to(life, "records", 2)) << gauge(life, "records");
  EXPECT_TRUE(comes_to(life, "tombstones", 1)) << gauge(life, "tombstones");
  const auto size = [&](const char* suffix) {
    return static_cast<double>(std::filesystem::file_size(path_ + suffix));
  };
  EXPECT_TRUE(comes_to(life, "journal_bytes", size("-wal"))) << gauge(life, "journal_bytes");
  EXPECT_TRUE(comes_to(life, "database_bytes", size(""))) << gauge(life, "database_bytes");
  struct statvfs disk {};
  ASSERT_EQ(statvfs(path_.c_str(), &disk), 0);
  const double all = static_cast<double>(disk.f_blocks) * static_cast<double>(disk.f_frsize);
  EXPECT_GT(gauge(life, "free_bytes"), 0);
  EXPECT_LE(gauge(life, "free_bytes"), all);
}

TEST_F(GaugesTest, TheJournalThatWasMovedIsSeen) {
  Life life(path_, 10);
  ASSERT_EQ(commit(life.client, group("a", std::string(100'000, 'x'))), "");
  ASSERT_TRUE(life.host.run_until([&] { return gauge(life, "journal_bytes") > 100'000; }));
  EXPECT_TRUE(std::isnan(gauge(life, "checkpoint_timestamp_seconds")));
  const double before = static_cast<double>(life.host.host().unix_ms()) / 1'000;
  ASSERT_TRUE(life.host.run_until([&] {
    return life.client.maintain({}).ok() && gauge(life, "journal_bytes") == 0 &&
           gauge(life, "checkpoint_timestamp_seconds") >= before;
  }));
  EXPECT_GT(gauge(life, "database_bytes"), 100'000);
}

TEST_F(GaugesTest, WhatCannotBeMeasuredIsNotShown) {
  Life life(path_, 10);
  ASSERT_EQ(commit(life.client, group("a")), "");
  ASSERT_TRUE(comes_to(life, "records", 1));
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_TRUE(life.host.run_until([&] { return std::isnan(gauge(life, "database_bytes")); }));
}

TEST_F(GaugesTest, NothingIsMeasuredOfWhatIsKeptNowhereNorWhenItIsNotWanted) {
  Life memory(":memory:", 10);
  ASSERT_EQ(commit(memory.client, group("a")), "");
  Life unwanted(path_, 0);
  ASSERT_EQ(commit(unwanted.client, group("a")), "");
  ASSERT_TRUE(unwanted.instance.stop().ok());
  ASSERT_TRUE(memory.instance.stop().ok());
  EXPECT_TRUE(std::isnan(gauge(memory, "records")));
  EXPECT_TRUE(std::isnan(gauge(unwanted, "records")));
}

TEST_F(GaugesTest, NoneIsAtWorkAfterTheStop) {
  for (int i = 0; i < 20; ++i) {
    Life life(path_, 1);
    ASSERT_TRUE(life.up.ok()) << life.up.error().message;
    ASSERT_TRUE(life.instance.stop().ok());
    const auto lock = Lock::take(path_);
    EXPECT_TRUE(lock.ok()) << "the database is still open: " << lock.error().message;
  }
}

}  // namespace
}  // namespace davit::storage_sqlite

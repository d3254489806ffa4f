// The Backlog of the SDK against a real store.
#include <davit/backlog.hpp>

#include "fakes/empty_storage.hpp"
#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit {
namespace {

class BacklogTest : public ::testing::Test {
 protected:
  BacklogTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }
  Cursor at(Version version) { return {rig_.storage.head()->head.incarnation, version}; }
  uint64_t above(Version version, const std::string& region = "eu") {
    EXPECT_TRUE(backlog_.refresh(rig_.storage).ok());
    return backlog_.above("widget", region, at(version));
  }
  testing::ServerRig rig_;
  Backlog backlog_;
};

TEST_F(BacklogTest, CountsRecordsAndNotChanges) {
  EXPECT_EQ(above(0), 0u);
  for (const char* id : {"a", "b", "a", "a"}) rig_.put(id);
  EXPECT_EQ(above(0), 2u);
  EXPECT_EQ(above(2), 1u);
  EXPECT_EQ(above(4), 0u);
  rig_.kill("b");
  EXPECT_EQ(above(4), 1u) << "a delete is to be applied, too";
  EXPECT_EQ(above(0, "us"), 0u);
}

TEST_F(BacklogTest, OfACursorOfAnotherHistoryEverythingIsAbove) {
  rig_.put("a");
  rig_.put("b");
  EXPECT_EQ(above(9000), 2u);
  EXPECT_EQ(backlog_.above("widget", "eu", {1, 2}), 2u);
}

TEST_F(BacklogTest, CountsNoFurtherThanItsLimit) {
  for (size_t i = 0; i < Backlog::changes_max + 10; ++i) rig_.put("w" + std::to_string(i));
  EXPECT_EQ(above(0), Backlog::changes_max);
  EXPECT_EQ(above(Version(Backlog::changes_max)), 10u);
}

TEST_F(BacklogTest, SeesWhatIsBetweenTwoCursorsOnce) {
  for (const char* id : {"a", "b", "c", "d"}) rig_.put(id);
  ASSERT_TRUE(backlog_.refresh(rig_.storage).ok());
  int seen = 0;
  const auto see = [&seen](int64_t committed_at) {
    EXPECT_GT(committed_at, 0);
    ++seen;
  };
  backlog_.between("widget", "eu", at(1), at(3), see);
  EXPECT_EQ(seen, 2);
  backlog_.between("widget", "eu", {1, 1}, at(3), see);
  EXPECT_EQ(seen, 2) << "one of another history";
}

// It is restored between the look at its head and the read that follows: versions 6 to 10 are lost.
class RestoredMeanwhile : public testing::EmptyStorage {
 public:
  static constexpr Incarnation first{UINT64_MAX}, second{UINT64_MAX - 1};
  bool restored = false;

  Result<Head> head(const Op&) { return now(); }
  Result<Page> read(const Op&, const ReadRequest&, const storage::VisitRecord& visit) {
    restored = true;
    Record r;
    r.key = {"widget", "eu", "a"};
    r.version = 5;
    visit(r);
    return Page{false, now().head.version, now()};
  }
  Result<> history(const Op&, const storage::VisitCursor& visit) {
    visit({first, Version(restored ? 5u : 10u)});
    if (restored) visit(now().head);
    return {};
  }

 private:
  Head now() const { return {restored ? Cursor{second, 6} : Cursor{first, 10}, 0, 0}; }
};

TEST(Backlog, JudgesCursorsByAHistoryThatIsAsNewAsTheHead) {
  RestoredMeanwhile storage;
  testing::TestHost host("plugin");
  const auto client = testing::client_of(host, storage);
  Backlog backlog;
  ASSERT_TRUE(backlog.refresh(client).ok());
  EXPECT_EQ(backlog.above("widget", "eu", {RestoredMeanwhile::first, 5}), 0u);
  EXPECT_EQ(backlog.above("widget", "eu", {RestoredMeanwhile::first, 8}), 1u)
      << "8 was lost: who has read it has read another history";
}

// What the test does in the middle of a read of the store.
class InTheMiddle : public testing::EmptyStorage {
 public:
  std::function<void()> middle;

  Result<Head> head(const Op&) { return Head{{1, last_}, 0, 0}; }
  Result<Page> read(const Op& op, const ReadRequest& q, const storage::VisitRecord& visit) {
    middle();
    Record r;
    r.key = {"widget", "eu", "a"};
    r.version = last_;
    if (q.cursor.version < last_) visit(r);
    return Page{false, last_, *head(op)};
  }
  Result<> history(const Op&, const storage::VisitCursor& visit) {
    visit({1, last_});
    return {};
  }
  void commit_one() { ++last_; }

 private:
  Version last_{1};
};

// Otherwise a read that never ends would hold up everybody who asks.
TEST(Backlog, HoldsNoLockWhileItReads) {
  InTheMiddle storage;
  testing::TestHost host("plugin");
  const auto client = testing::client_of(host, storage);
  Backlog backlog;
  storage.middle = [] {};
  ASSERT_TRUE(backlog.refresh(client).ok());
  int asked = 0;
  storage.middle = [&] {
    ++asked;
    EXPECT_EQ(backlog.above("widget", "eu", {1, 0}), 1u);
    backlog.between("widget", "eu", {1, 0}, {1, 1}, [](int64_t) {});
    const auto second = backlog.refresh(client);
    EXPECT_TRUE(second.ok() && !*second) << "one reads at a time";
    const auto waits = backlog.refresh_or_wait(client, [] { return false; });
    EXPECT_TRUE(!waits.ok() && waits.error().code == Code::cancelled) << "as long as it wants";
  };
  storage.commit_one();
  const auto first = backlog.refresh(client);
  EXPECT_TRUE(first.ok() && *first);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(backlog.above("widget", "eu", {1, 1}), 1u);
}

TEST_F(BacklogTest, EndsWhenNobodyWantsItAnyMore) {
  rig_.put("a");
  const auto r = backlog_.refresh(rig_.storage, [] { return false; });
  EXPECT_EQ(r.error().code, Code::cancelled);
}

}  // namespace
}  // namespace davit

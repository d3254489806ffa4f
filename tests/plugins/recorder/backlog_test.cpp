// The Backlog of the SDK against a real store.
#include <davit/backlog.hpp>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit {
namespace {

class BacklogTest : public ::testing::Test {
 protected:
  BacklogTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }
  Cursor at(uint64_t version) { return {rig_.storage.head()->head.incarnation, version}; }
  uint64_t above(uint64_t version, const std::string& region = "eu") {
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
  EXPECT_EQ(above(Backlog::changes_max), 10u);
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

TEST_F(BacklogTest, EndsWhenNobodyWantsItAnyMore) {
  rig_.put("a");
  const auto r = backlog_.refresh(rig_.storage, [] { return false; });
  EXPECT_EQ(r.error().code, Code::cancelled);
}

}  // namespace
}  // namespace davit

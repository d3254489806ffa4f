#include "shares.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

using namespace std::chrono_literals;

class SharesTest : public ::testing::Test {
 protected:
  void begin(const std::string& group, size_t count, Shares::Time at) {
    for (size_t i = 0; i < count; ++i) shares_.began(group, ++number_, at);
  }
  Shares shares_{2s, 64};
  uint64_t number_ = 0;
};

TEST_F(SharesTest, AllGroupsTogetherHaveTheLimit) {
  begin("a", 10, 0s);
  begin("b", 5, 0s);
  EXPECT_EQ(shares_.room("a", 16, 1s), 1u);
  EXPECT_EQ(shares_.room("c", 16, 1s), 1u);
  EXPECT_TRUE(shares_.has_room(16, 1s));
  EXPECT_FALSE(shares_.has_room(15, 1s));
}

TEST_F(SharesTest, WhatIsSlowCountsAgainstItsOwnGroupOnly) {
  begin("a", 16, 0s);
  EXPECT_EQ(shares_.room("b", 16, 2s), 0u);
  EXPECT_GT(shares_.next_slow(2s), 2s);
  EXPECT_EQ(shares_.room("b", 16, shares_.next_slow(2s)), 16u);
  EXPECT_EQ(shares_.room("a", 16, 3s), 0u);
  EXPECT_TRUE(shares_.has_room(16, 3s));
  EXPECT_EQ(shares_.next_slow(3s), 0s) << "all of them are";
}

TEST_F(SharesTest, WhatHasEndedMakesRoomForItsGroup) {
  begin("a", 16, 0s);
  EXPECT_EQ(shares_.ended(1), "a");
  EXPECT_EQ(shares_.room("a", 16, 3s), 1u);
}

TEST_F(SharesTest, SlowGroupsLeaveHalfOfTheWorkersToTheOthers) {
  begin("a", 16, 0s);
  begin("b", 15, 3s);
  EXPECT_EQ(shares_.room("b", 16, 6s), 1u);
  begin("b", 1, 6s);
  EXPECT_EQ(shares_.room("b", 32, 9s), 0u);
  EXPECT_EQ(shares_.room("c", 32, 9s), 32u);
}

TEST_F(SharesTest, ARefusalIsTheGroupsWhileAsManyOthersAreServed) {
  EXPECT_TRUE(shares_.refused("a", false, 1s, 2s)) << "nothing is known of others";
  shares_.answered("b", 3s);
  EXPECT_FALSE(shares_.refused("a", false, 3s, 4s));
  EXPECT_TRUE(shares_.refused("a", false, 4s, 5s)) << "b was asked before";
  shares_.answered("b", 5s);
  EXPECT_TRUE(shares_.refused("c", false, 5s, 6s)) << "two are refused and one is served";
  EXPECT_FALSE(shares_.refused("c", false, 5s, 16s)) << "a was refused long ago";
}

TEST_F(SharesTest, ARefusalThatNamesAWebhookIsNeverTheApiServers) {
  EXPECT_FALSE(shares_.refused("a", true, 1s, 2s));
}

TEST_F(SharesTest, RemembersNoGroupThatHasGone) {
  Shares::Time at = 1s;
  for (int n = 0; n < 10'000; ++n, at += 1s) {
    const std::string group = "things ns-" + std::to_string(n);
    shares_.began(group, 1, at);
    if (n % 3 == 0) {
      shares_.refused(group, false, at, at);
    } else {
      shares_.answered(group, at);
    }
    shares_.ended(1);
    EXPECT_LE(shares_.groups(), 64u);
  }
}

// A request that hangs for a minute is judged by what was served meanwhile.
TEST_F(SharesTest, RemembersWhatWasServedWhileARequestIsOut) {
  shares_.began("slow", 1, 0s);
  Shares::Time at = 1s;
  for (int n = 0; n < 200; ++n, at += 300ms) shares_.answered("b" + std::to_string(n), at);
  EXPECT_FALSE(shares_.refused("slow", false, 0s, at)) << "two hundred groups were served since";
  EXPECT_GE(shares_.groups(), 200u);
}

}  // namespace
}  // namespace davit::applier

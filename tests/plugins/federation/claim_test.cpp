// Who claims a robot's name, and when: two that run hear of each other, and keep nobody busy.
#include <gtest/gtest.h>

#include "claim.hpp"

namespace davit::federation::test {
namespace {

using namespace std::chrono_literals;
using Time = Claim::Time;

TEST(Claim, ClaimsANameThatIsFreeAtOnce) {
  Claim claim("a");
  EXPECT_FALSE(claim.due()) << "nothing is known yet";
  claim.seen(std::nullopt, 5s, 0);
  EXPECT_EQ(claim.due(), Time(5s));
  claim.seen("a", 6s, 0);
  EXPECT_FALSE(claim.due());
  EXPECT_EQ(claim.rival(6s), "");
}

TEST(Claim, ItsOwnFromBeforeIsNotWrittenAgain) {
  Claim claim("a");
  claim.seen("a", 5s, 0);
  EXPECT_FALSE(claim.due());
}

TEST(Claim, TakesOverFromOneThatDoesNotAnswer) {
  Claim claim("b");
  claim.seen("a", 5s, 0);
  EXPECT_EQ(claim.due(), Time(5s));
  claim.seen("b", 6s, 0);
  EXPECT_EQ(claim.rival(1h), "") << "who is gone is no rival";
}

TEST(Claim, WhoLosesItNamesTheOtherAndClaimsItBack) {
  Claim claim("a");
  claim.seen("a", 0s, 0);
  claim.seen("b", 10s, 0);
  EXPECT_EQ(claim.rival(10s), "b");
  ASSERT_TRUE(claim.due());
  EXPECT_LE(*claim.due(), Time(11s));
  claim.seen("a", 11s, 0);
  EXPECT_FALSE(claim.due());
  EXPECT_EQ(claim.rival(11s), "b") << "it may answer";
  EXPECT_EQ(claim.rival(10s + 15min), "");
}

TEST(Claim, TwoThatRunHearOfEachOtherForEverAndWriteLittle) {
  Claim a("a"), b("b");
  Time now{0};
  std::string holder;
  const auto show = [&] {
    a.seen(holder.empty() ? std::nullopt : std::optional(holder), now, 7);
    b.seen(holder.empty() ? std::nullopt : std::optional(holder), now, 11);
  };
  show();
  size_t writes = 0;
  for (; now < 24h; now += 1s) {
    for (auto* claim : {&a, &b}) {
      if (!claim->due() || *claim->due() > now) continue;
      holder = claim == &a ? "a" : "b";
      ++writes;
      show();
    }
    if (now > 1min) {
      EXPECT_EQ(a.rival(now), "b");
      EXPECT_EQ(b.rival(now), "a");
    }
  }
  EXPECT_LE(writes, 700u) << "one each five minutes at most, after the first minutes";
  // b is switched off: a is alone again.
  a.seen("b", now, 0);
  a.seen("a", now + 5min, 0);
  EXPECT_EQ(a.rival(now + 14min), "b");
  EXPECT_EQ(a.rival(now + 16min), "");
}

TEST(Claim, WhatFailsIsTriedAgain) {
  Claim claim("a");
  claim.seen(std::nullopt, 0s, 0);
  claim.failed(0s, 0);
  EXPECT_GT(claim.due(), Time(0s));
  EXPECT_LE(claim.due(), Time(1s));
}

TEST(Claim, ALeaseHasADnsNameWhateverTheRobotIsCalled) {
  EXPECT_EQ(lease_name("robot-17"), "davit-federation-robot-17");
  EXPECT_TRUE(lease_name("Robot_17").starts_with("davit-federation--obot-17-"));
  EXPECT_NE(lease_name("Robot_17"), lease_name("Robot.17"));
}

}  // namespace
}  // namespace davit::federation::test

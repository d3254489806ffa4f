#include <davit/turns.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TurnsTest : public ::testing::Test {
 protected:
  static constexpr size_t small = 100, large = 4'000'000;

  explicit TurnsTest(PaceLimits pace = {.bytes_per_second = 1 << 30, .burst_bytes = 1 << 30})
      : turns_({.working_bytes = 10'000, .waiting_bytes = 10'000'000, .pace = pace}) {}

  // Who runs now: "eu1 eu2".
  std::string enter(const std::string& region, const std::string& name, size_t bytes,
                    Turns::Time deadline = Turns::Time::max()) {
    auto r = turns_.enter({region, bytes, bytes, deadline}, now_,
                          [this, name] { ran_ += (ran_.empty() ? "" : " ") + name; });
    if (!r.ok()) return r.error().message;
    return run(*r);
  }
  std::string leave(const std::string& region, size_t bytes) {
    return run(turns_.leave(region, bytes, now_));
  }
  std::string run(const Turns::Next& next) {
    next_ = next;
    ran_.clear();
    for (const auto& job : next.jobs) job();
    return ran_;
  }
  Turns turns_;
  Turns::Time now_{0};
  Turns::Next next_;  // what the last step has given
  std::string ran_;
};

TEST_F(TurnsTest, SmallCallsOfARegionRunTogether) {
  EXPECT_EQ(enter("eu", "a", small), "a");
  EXPECT_EQ(enter("eu", "b", small), "b");
}

TEST_F(TurnsTest, ALargeCallRunsAloneAndTheOthersOfItsRegionFollowInOrder) {
  EXPECT_EQ(enter("eu", "a", large), "a");
  EXPECT_EQ(enter("eu", "b", small), "");
  EXPECT_EQ(enter("eu", "c", small), "");
  EXPECT_EQ(enter("eu", "d", large), "");
  EXPECT_EQ(enter("eu", "e", small), "") << "a small one does not overtake";
  EXPECT_EQ(leave("eu", large), "b c");
  EXPECT_EQ(leave("eu", small), "");
  EXPECT_EQ(leave("eu", small), "d");
  EXPECT_EQ(leave("eu", large), "e");
}

TEST_F(TurnsTest, NoRegionWaitsForAnother) {
  EXPECT_EQ(enter("evil", "a", large), "a");
  EXPECT_EQ(enter("evil", "b", large), "");
  EXPECT_EQ(enter("eu", "c", large), "c");
  EXPECT_EQ(leave("eu", large), "");
  EXPECT_EQ(enter("eu", "d", small), "d");
}

TEST_F(TurnsTest, WhatWaitsOfARegionHasALimitAndTheOthersHaveTheirOwn) {
  EXPECT_EQ(enter("evil", "a", large), "a");
  EXPECT_EQ(enter("evil", "b", large), "");
  EXPECT_EQ(enter("evil", "c", large), "");
  const std::string refusal = "too many calls of region \"evil\" wait: wait for the answers";
  EXPECT_EQ(enter("evil", "d", large), refusal);
  EXPECT_EQ(enter("eu", "e", small), "e");
  EXPECT_EQ(leave("evil", large), "b");
  EXPECT_EQ(enter("evil", "f", large), "");
}

TEST_F(TurnsTest, ARefusalIsToldWhenItIsItsTurn) {
  EXPECT_EQ(enter("evil", "a", large), "a");
  EXPECT_EQ(enter("evil", "b", large), "");
  EXPECT_EQ(enter("evil", "c", large), "");
  ASSERT_FALSE(turns_.enter({"evil", large, large}, now_, [] {}).ok());
  EXPECT_EQ(run(*turns_.enter_refusal({"evil", large, large}, now_, [this] { ran_ += "refused"; })),
            "");
  EXPECT_EQ(leave("evil", large), "b");
  EXPECT_EQ(leave("evil", large), "c");
  EXPECT_EQ(leave("evil", large), "refused");
}

TEST_F(TurnsTest, ARegionThatIsDoneBeginsAnew) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(enter("eu", "a", large), "a");
    EXPECT_EQ(leave("eu", large), "");
  }
}

// A call of 904 bytes costs 5,000: at this pace one a second, after four at once.
class PacedTurnsTest : public TurnsTest {
 protected:
  static constexpr size_t call = 904;
  PacedTurnsTest() : TurnsTest({.bytes_per_second = 5'000, .burst_bytes = 20'000}) {}

  // Enters one call, which ends at once.
  std::string called(const std::string& region, const std::string& name) {
    std::string out = enter(region, name, call);
    if (!out.empty()) leave(region, call);
    return out;
  }
  void spend_the_burst(const std::string& region) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(called(region, "burst"), "burst");
  }
};

TEST_F(PacedTurnsTest, ARegionBeyondItsPaceWaitsAndAnotherDoesNot) {
  spend_the_burst("evil");
  EXPECT_EQ(turns_.wake_at(), std::nullopt);
  EXPECT_EQ(called("evil", "a"), "");
  EXPECT_TRUE(next_.held);
  EXPECT_EQ(called("eu", "b"), "b");
  EXPECT_EQ(turns_.wake_at(), Turns::Time(1));
  now_ = *turns_.wake_at();
  EXPECT_EQ(run(turns_.wake(now_)), "a");
  EXPECT_EQ(leave("evil", call), "");
}

TEST_F(PacedTurnsTest, WhatWaitsGoesInItsOrderAndNothingIsLost) {
  spend_the_burst("evil");
  const std::string names = "abcdef";
  for (const char name : names) EXPECT_EQ(enter("evil", std::string(1, name), call), "");
  std::string ran;
  while (const auto at = turns_.wake_at()) {
    EXPECT_EQ(run(turns_.wake(*at - Turns::Time(1))), "") << "too early";
    now_ = *at;
    ran += run(turns_.wake(now_));
    ran += leave("evil", call);
  }
  EXPECT_EQ(ran, names);
  EXPECT_EQ(std::chrono::duration_cast<milliseconds>(now_), milliseconds(5'000));
}

TEST_F(PacedTurnsTest, SaysOnceThatARegionIsSlowedUntilItHasRested) {
  for (int round = 0; round < 2; ++round) {
    spend_the_burst("evil");
    EXPECT_EQ(enter("evil", "a", call), "");
    EXPECT_TRUE(next_.slowed);
    EXPECT_EQ(enter("evil", "b", call), "");
    EXPECT_FALSE(next_.slowed);
    now_ += seconds(60);
    EXPECT_EQ(run(turns_.wake(now_)), "a b");
    EXPECT_EQ(next_.waited, std::vector<Turns::Time>{seconds(60)});
    leave("evil", call);
    leave("evil", call);
    now_ += seconds(60);
  }
}

// Who waits for it has gone: what it asked for is not done, and costs the region nothing.
TEST_F(PacedTurnsTest, ACallWhoseDeadlineHasPassedSpendsNothing) {
  spend_the_burst("evil");
  EXPECT_EQ(enter("evil", "a", call, now_ + milliseconds(1)), "");
  EXPECT_EQ(enter("evil", "b", call, now_ + milliseconds(2)), "");
  EXPECT_EQ(enter("evil", "c", call), "");
  EXPECT_EQ(enter("evil", "d", call), "");
  now_ = milliseconds(3);
  EXPECT_EQ(run(turns_.wake(now_)), "a b c");
}

TEST_F(PacedTurnsTest, WhatTurnsOutToCostMoreIsPaidForByWhatFollows) {
  EXPECT_EQ(enter("evil", "a", call), "a");
  turns_.spend("evil", 25'000, now_);
  leave("evil", call);
  EXPECT_EQ(enter("evil", "b", call), "");
  EXPECT_EQ(turns_.wake_at(), seconds(2) + Turns::Time(1));
}

// One that would be forgotten between two calls would never be beyond its pace.
TEST_F(PacedTurnsTest, ARegionIsRememberedUntilItHasRested) {
  spend_the_burst("evil");
  for (int i = 0; i < 1'000; ++i) called("eu-" + std::to_string(i), "x");
  EXPECT_EQ(called("evil", "a"), "");
}

TEST_F(PacedTurnsTest, NobodyWaitsForItsPaceOnceTheServerEnds) {
  spend_the_burst("evil");
  EXPECT_EQ(enter("evil", "a", call), "");
  EXPECT_EQ(run(turns_.hurry(now_)), "a");
  leave("evil", call);
  EXPECT_EQ(called("evil", "b"), "b");
}

}  // namespace
}  // namespace davit

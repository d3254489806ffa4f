#include "turns.hpp"

#include <gtest/gtest.h>

namespace davit::recorder {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  static constexpr size_t small = 100, large = 4'000'000;

  // Who runs now: "eu1 eu2".
  std::string enter(const std::string& region, const std::string& name, size_t bytes) {
    auto r =
        turns_.enter(region, bytes, [this, name] { ran_ += (ran_.empty() ? "" : " ") + name; });
    if (!r.ok()) return r.error().message;
    return run(std::move(*r));
  }
  std::string leave(const std::string& region, size_t bytes) {
    return run(turns_.leave(region, bytes));
  }
  std::string run(std::vector<Turns::Job> jobs) {
    ran_.clear();
    for (const auto& job : jobs) job();
    return ran_;
  }
  Turns turns_{{.working_bytes = 10'000, .waiting_bytes = 10'000'000}};
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
  ASSERT_FALSE(turns_.enter("evil", large, [] {}).ok());
  EXPECT_EQ(run(*turns_.enter_refusal("evil", [this] { ran_ += "refused"; })), "");
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

}  // namespace
}  // namespace davit::recorder

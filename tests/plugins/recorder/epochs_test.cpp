#include "epochs.hpp"

#include <gtest/gtest.h>

namespace davit::recorder {
namespace {

Progress from(const std::string& region, const std::string& agent, Epoch epoch) {
  return {region, agent, "davit", epoch, {}, {}, 0};
}

TEST(Epochs, TheFirstAndEveryGreaterOneStands) {
  Epochs epochs;
  EXPECT_EQ(epochs.taken(from("eu", "a", 5)), Epoch(0));
  epochs.heard(from("eu", "a", 5));
  EXPECT_EQ(epochs.taken(from("eu", "b", 6)), Epoch(0));
}

TEST(Epochs, WhoIsNotAboveTheGreatestIsToldIt) {
  Epochs epochs;
  epochs.heard(from("eu", "a", 5));
  EXPECT_EQ(epochs.taken(from("eu", "a", 4)), Epoch(5))
      << "started again by a clock that was set back";
  epochs.heard(from("eu", "a", 4));
  EXPECT_EQ(epochs.taken(from("eu", "a", 4)), Epoch(5)) << "its question may have been repeated";
  EXPECT_EQ(epochs.taken(from("eu", "b", 5)), Epoch(5))
      << "two that started in the same millisecond";
}

// One that was told may end with statuses under way that carry what it has risen to.
TEST(Epochs, NoTwoProcessesOfAnAgentRiseToTheSameEpoch) {
  Epochs epochs;
  epochs.heard(from("eu", "a", 5));
  EXPECT_EQ(epochs.taken(from("eu", "a", 4)), Epoch(5));
  epochs.told(from("eu", "a", 4), 5);
  EXPECT_EQ(epochs.taken(from("eu", "a", 6)), Epoch(0)) << "it has risen";
  EXPECT_EQ(epochs.taken(from("eu", "a", 4)), Epoch(6)) << "its next process";
  EXPECT_EQ(epochs.taken(from("eu", "b", 5)), Epoch(6));
}

TEST(Epochs, TheGreatestItselfIsKnownAndToldNothing) {
  Epochs epochs;
  epochs.heard(from("eu", "a", 5));
  EXPECT_TRUE(epochs.known(from("eu", "a", 5)));
  EXPECT_EQ(epochs.taken(from("eu", "a", 5)), Epoch(0));
  EXPECT_FALSE(epochs.known(from("eu", "a", 6)));
}

TEST(Epochs, RegionsHaveNothingToDoWithEachOther) {
  Epochs epochs;
  epochs.heard(from("eu", "a", 5));
  EXPECT_EQ(epochs.taken(from("us", "a", 4)), Epoch(0));
}

// Its statuses may overtake its word.
TEST(Epochs, WhoseStatusesCameFirstIsKnownByThem) {
  Epochs epochs;
  epochs.heard(from("eu", "a", 5));
  epochs.reported("eu", 6);
  EXPECT_EQ(epochs.taken(from("eu", "a", 5)), Epoch(6));
  EXPECT_EQ(epochs.taken(from("eu", "a", 6)), Epoch(0));
  epochs.heard(from("eu", "a", 6));
  EXPECT_EQ(epochs.taken(from("eu", "b", 6)), Epoch(6));
}

TEST(Epochs, AboveIsWhatNobodyHasReached) {
  Epochs epochs;
  EXPECT_EQ(epochs.above("eu"), Epoch(0));
  epochs.heard(from("eu", "a", 5));
  epochs.reported("eu", 3);
  EXPECT_EQ(epochs.above("eu"), Epoch(6));
}

}  // namespace
}  // namespace davit::recorder

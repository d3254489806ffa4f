#include <gtest/gtest.h>

#include "census.hpp"

namespace davit::streamer {
namespace {

TEST(Census, CountsWhatWasLiveAtTheBeginning) {
  Census c(10);
  c.named("a", 1, true);
  c.named("b", 2, true);
  EXPECT_EQ(c.live_count(), 2u);
}

TEST(Census, DeadAtTheBeginningDoNotCount) {
  Census c(10);
  c.named("a", 1, false);
  EXPECT_EQ(c.live_count(), 0u);
}

TEST(Census, ARecordNamedTwiceCountsOnce) {
  Census c(10);
  c.named("a", 1, true);
  c.named("a", 11, true);
  c.named("a", 12, true);
  EXPECT_EQ(c.live_count(), 1u);
}

TEST(Census, ARecordThatDiedAfterItWasNamedDoesNotCount) {
  Census c(10);
  c.named("a", 1, true);
  c.named("a", 11, false);
  EXPECT_EQ(c.live_count(), 0u);
}

TEST(Census, ARecordThatDiedAndCameBackCounts) {
  Census c(10);
  c.named("a", 1, true);
  c.named("a", 11, false);
  c.named("a", 12, true);
  EXPECT_EQ(c.live_count(), 1u);
}

TEST(Census, ARecordMadeMeanwhileCountsAndOneMadeAndDeadDoesNot) {
  Census c(10);
  c.named("new", 11, true);
  c.named("gone", 12, true);
  c.named("gone", 13, false);
  c.named("unseen", 14, false);
  EXPECT_EQ(c.live_count(), 1u);
}

}  // namespace
}  // namespace davit::streamer

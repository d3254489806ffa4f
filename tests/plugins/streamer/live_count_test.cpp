#include <gtest/gtest.h>

#include "live_count.hpp"

namespace davit::streamer {
namespace {

// Every record on a page of its own, so that what is known of one page is found from another.
struct Snapshot {
  LiveCount count;
  void named(std::string_view id, Version version, bool live) {
    auto page = std::make_shared<PageNames>(Version(10));
    page->add(id, version, live);
    page->seal();
    count.take(std::move(page));
  }
  uint64_t live_count() const { return count.total(); }
};

TEST(LiveCount, CountsWhatWasLiveAtTheBeginning) {
  Snapshot c;
  c.named("a", 1, true);
  c.named("b", 2, true);
  EXPECT_EQ(c.live_count(), 2u);
}

TEST(LiveCount, DeadAtTheBeginningDoNotCount) {
  Snapshot c;
  c.named("a", 1, false);
  EXPECT_EQ(c.live_count(), 0u);
}

TEST(LiveCount, ARecordNamedTwiceCountsOnce) {
  Snapshot c;
  c.named("a", 1, true);
  c.named("a", 11, true);
  c.named("a", 12, true);
  EXPECT_EQ(c.live_count(), 1u);
}

TEST(LiveCount, ARecordThatDiedAfterItWasNamedDoesNotCount) {
  Snapshot c;
  c.named("a", 1, true);
  c.named("a", 11, false);
  EXPECT_EQ(c.live_count(), 0u);
}

TEST(LiveCount, ARecordThatDiedAndCameBackCounts) {
  Snapshot c;
  c.named("a", 1, true);
  c.named("a", 11, false);
  c.named("a", 12, true);
  EXPECT_EQ(c.live_count(), 1u);
}

TEST(LiveCount, ARecordMadeMeanwhileCountsAndOneMadeAndDeadDoesNot) {
  Snapshot c;
  c.named("new", 11, true);
  c.named("gone", 12, true);
  c.named("gone", 13, false);
  c.named("unseen", 14, false);
  EXPECT_EQ(c.live_count(), 1u);
}

}  // namespace
}  // namespace davit::streamer

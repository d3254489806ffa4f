#include "line.hpp"

#include <gtest/gtest.h>

namespace davit::torture {
namespace {

Delivery live(const std::string& name, uint64_t version) {
  return {name, "id-" + name, "c" + std::to_string(version), version, true};
}
Delivery dead(const std::string& name, uint64_t version) {
  return {name, "id-" + name, {}, version, false};
}

// A davit.v1 reader that has a, b and c and stands at 10.
Line at_ten() {
  Line line(Wire::davit_v1);
  line.opened();
  line.begins(true, {1, 9});
  line.delivered(1, live("a", 3));
  line.delivered(1, live("b", 7));
  line.delivered(1, live("c", 10));
  line.snapshot_end(2, {1, 10}, 3);
  return line;
}

void expect_fault(const Line& line, const std::string& text) {
  ASSERT_EQ(line.faults().size(), 1u);
  EXPECT_NE(line.faults()[0].find(text), std::string::npos) << line.faults()[0];
}

TEST(TortureLine, SnapshotTakesTheClustersPlaceAtItsEnd) {
  Line line = at_ten();
  EXPECT_EQ(line.cursor().version, 10u);
  line.refused("cursor 10 is below the purge mark 12");
  EXPECT_EQ(line.opened().version, 0u);
  line.begins(true, {1, 20});
  line.delivered(3, live("b", 15));
  EXPECT_EQ(line.objects().size(), 3u);
  line.snapshot_end(4, {1, 20}, 1);
  EXPECT_EQ(line.objects(), (Objects{{"b", {"id-b", "c15", 15}}}));
  EXPECT_TRUE(line.faults().empty());
}

TEST(TortureLine, BrokenSnapshotCountsForNothing) {
  Line line = at_ten();
  line.refused("purge mark");
  line.opened();
  line.begins(true, {1, 20});
  line.delivered(3, live("b", 15));
  EXPECT_EQ(line.opened().version, 0u);
  EXPECT_EQ(line.objects().size(), 3u);
}

TEST(TortureLine, TailGoesOnFromTheCursor) {
  Line line = at_ten();
  EXPECT_EQ(line.opened().version, 10u);
  line.begins(false, {2, 10});
  line.delivered(3, dead("a", 11));
  line.bookmark(4, {2, 30});
  EXPECT_EQ(line.objects().count("a"), 0u);
  EXPECT_EQ(line.cursor().version, 30u);
  EXPECT_EQ(line.cursor().incarnation, 2u);
  EXPECT_TRUE(line.faults().empty());
}

TEST(TortureLine, FindsTheSameRecordTwice) {
  Line line = at_ten();
  line.opened();
  line.begins(false, {1, 10});
  line.delivered(3, live("c", 10));
  expect_fault(line, "twice");
}

TEST(TortureLine, FindsAReordering) {
  Line line = at_ten();
  line.delivered(3, live("a", 14));
  line.delivered(3, live("b", 13));
  expect_fault(line, "out of order");
}

TEST(TortureLine, FindsAReorderingInASnapshot) {
  Line line(Wire::davit_v1);
  line.opened();
  line.begins(true, {1, 9});
  line.delivered(1, live("b", 7));
  line.delivered(1, live("a", 3));
  expect_fault(line, "out of order");
}

TEST(TortureLine, FindsARecordBelowABookmark) {
  Line line = at_ten();
  line.bookmark(3, {1, 20});
  line.delivered(4, live("a", 19));
  expect_fault(line, "twice, or out of order");
}

TEST(TortureLine, FindsABookmarkThatGoesBack) {
  Line line = at_ten();
  line.bookmark(3, {1, 9});
  expect_fault(line, "a bookmark at 9");
}

TEST(TortureLine, FindsAWrongCountAndDoesNotPruneByIt) {
  Line line = at_ten();
  line.refused("purge mark");
  line.opened();
  line.begins(true, {1, 20});
  line.delivered(3, live("b", 15));
  line.snapshot_end(4, {1, 20}, 2);
  expect_fault(line, "named 1 live records and counted 2");
  EXPECT_EQ(line.objects().size(), 3u);
  EXPECT_EQ(line.opened().version, 0u);
}

TEST(TortureLine, FindsARefusalThatNoPurgeExplains) {
  Line line = at_ten();
  line.refused("cursor 10 is of another history of this database");
  expect_fault(line, "a good cursor was refused");
}

TEST(TortureLine, FindsAStreamThatBeginsElsewhere) {
  Line line = at_ten();
  line.opened();
  line.begins(false, {1, 12});
  expect_fault(line, "began at 12");
}

TEST(TortureLine, FindsASnapshotThatNobodyAskedFor) {
  Line line = at_ten();
  line.opened();
  line.begins(true, {1, 12});
  expect_fault(line, "a snapshot although there was a cursor");
}

TEST(TortureLine, CtrlReaderWithNothingToPruneGoesOnInMidSnapshot) {
  Line line(Wire::ctrl_v1);
  EXPECT_EQ(line.opened().version, 0u);
  line.delivered(1, live("a", 3));
  EXPECT_EQ(line.opened().version, 3u);
  EXPECT_EQ(line.objects().size(), 1u);
}

TEST(TortureLine, CtrlReaderPrunesAtTheFirstBookmark) {
  Line line(Wire::ctrl_v1);
  line.opened();
  line.delivered(1, live("a", 3));
  line.delivered(1, live("b", 4));
  line.refused("purge mark");
  EXPECT_EQ(line.opened().version, 0u);
  line.delivered(2, live("b", 4));
  EXPECT_EQ(line.objects().size(), 2u);
  line.bookmark(3, {0, 9});
  EXPECT_EQ(line.objects().size(), 1u);
  EXPECT_EQ(line.cursor().version, 9u);
}

TEST(TortureLine, CtrlReaderThatIsGivenEverythingAgainPrunesAtTheFirstBookmark) {
  Line line(Wire::ctrl_v1);
  line.opened();
  line.delivered(1, live("a", 3));
  line.delivered(1, live("b", 14));
  EXPECT_EQ(line.opened().version, 14u);
  line.bookmark(2, {0, 0});
  line.delivered(2, live("b", 15));
  line.delivered(2, live("c", 16));
  EXPECT_EQ(line.objects().size(), 2u);
  line.bookmark(3, {0, 20});
  EXPECT_EQ(line.objects().count("a"), 0u);
  EXPECT_EQ(line.objects().count("c"), 1u);
  EXPECT_TRUE(line.faults().empty());
}

TEST(TortureLine, FindsACtrlRecordBelowTheOneBeforeIt) {
  Line line(Wire::ctrl_v1);
  line.opened();
  line.delivered(1, live("a", 3));
  line.delivered(1, live("b", 2));
  expect_fault(line, "out of order");
}

}  // namespace
}  // namespace davit::torture

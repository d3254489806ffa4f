#include "services/batch.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

std::string pick(const std::deque<Footprint>& waiting, BatchLimits limits = {}) {
  std::string out;
  for (size_t i : pick_batch(waiting, limits)) out += std::to_string(i) + " ";
  return out;
}

TEST(Batch, TakesEverythingThatSharesNothing) {
  EXPECT_EQ(pick({{{"a"}, 1}, {{"b"}, 1}, {{"c", "d"}, 1}}), "0 1 2 ");
}

TEST(Batch, LeavesWhatSharesAKeyForTheNext) {
  EXPECT_EQ(pick({{{"a"}, 1}, {{"a"}, 1}, {{"b"}, 1}}), "0 2 ");
}

TEST(Batch, NobodyOvertakesOneThatWaitsForAKey) {
  // 1 waits for a; 2 shares b with 1 and must not come before it.
  EXPECT_EQ(pick({{{"a"}, 1}, {{"a", "b"}, 1}, {{"b"}, 1}, {{"c"}, 1}}), "0 3 ");
}

TEST(Batch, EndsAtTheNumberOfRequests) {
  EXPECT_EQ(pick({{{"a"}, 1}, {{"b"}, 1}, {{"c"}, 1}}, {2, 100}), "0 1 ");
}

TEST(Batch, EndsAtTheBytesButTakesOne) {
  EXPECT_EQ(pick({{{"a"}, 60}, {{"b"}, 40}, {{"c"}, 1}}, {10, 100}), "0 1 ");
  EXPECT_EQ(pick({{{"a"}, 500}, {{"b"}, 1}}, {10, 100}), "0 ");
}

TEST(Batch, EndsAtTheRecordsButTakesOne) {
  EXPECT_EQ(pick({{{"a"}, 1, 2}, {{"b"}, 1, 1}, {{"c"}, 1, 1}}, {10, 100, 3}), "0 1 ");
  EXPECT_EQ(pick({{{"a"}, 1, 9}, {{"b"}, 1, 1}}, {10, 100, 3}), "0 ");
}

TEST(Batch, OfNothingIsNothing) {
  EXPECT_EQ(pick({}), "");
}

}  // namespace
}  // namespace davit::host

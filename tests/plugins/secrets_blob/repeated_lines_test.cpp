#include "repeated_lines.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_blob {
namespace {

using namespace std::chrono_literals;

TEST(RepeatedLines, TheFirstOfEachKeyIsALineAndThenOneAMinute) {
  RepeatedLines lines;
  EXPECT_EQ(lines.log("a", 100s), 0u);
  EXPECT_EQ(lines.log("a", 101s), std::nullopt);
  EXPECT_EQ(lines.log("b", 102s), 1u) << "what was left out since the last line";
  EXPECT_EQ(lines.log("a", 150s), std::nullopt);
  EXPECT_EQ(lines.log("a", 160s), 1u);
}

TEST(RepeatedLines, ThereAreSoManyAMinute) {
  RepeatedLines lines;
  size_t logged = 0;
  for (int n = 0; n < 1'000; ++n) logged += lines.log(std::to_string(n), 100s) ? 1 : 0;
  EXPECT_EQ(logged, RepeatedLines::lines_max);
  EXPECT_EQ(lines.log("new", 160s), 900u);
}

}  // namespace
}  // namespace davit::secrets_blob

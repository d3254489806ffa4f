#include <gtest/gtest.h>

#include "commands/duration.hpp"

namespace davit::host {
namespace {

using std::chrono::milliseconds;

TEST(Duration, TakesTheUsualUnits) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("60s"), milliseconds(60'000));
  EXPECT_EQ(parse_duration("60"), milliseconds(60'000));
  EXPECT_EQ(parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(parse_duration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(parse_duration("7d"), milliseconds(604'800'000));
}

TEST(Duration, IsWrittenInTheLargestUnitThatFits) {
  for (const char* text : {"0s", "1500ms", "90s", "5m", "36h", "7d"})
    EXPECT_EQ(to_text(*parse_duration(text)), text);
  EXPECT_EQ(to_text(milliseconds(60'000)), "1m");
}

TEST(Duration, RefusesTheRest) {
  for (const char* bad :
       {"", "s", "-1s", "1.5s", "1w", "5 s", "367d", "1000000h", "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

}  // namespace
}  // namespace davit::host

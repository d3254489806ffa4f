#include <davit/pace.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace davit {
namespace {

using std::chrono::milliseconds;
using Time = Pace::Time;

// 1,000 bytes a second, 2,000 at once.
class PaceTest : public ::testing::Test {
 protected:
  // How long one has to wait at `now`.
  milliseconds wait(milliseconds now) const {
    return std::max(std::chrono::duration_cast<milliseconds>(pace_.begins() - Time(now)),
                    milliseconds(0));
  }
  Pace pace_{{.bytes_per_second = 1'000, .burst_bytes = 2'000}};
};

TEST_F(PaceTest, OnlyWhatIsBeyondTheBurstWaits) {
  struct Step {
    int at_ms;
    size_t spent;
    int wait_ms;  // of what comes next
  };
  const std::vector<Step> steps = {
      {0, 1'000, 0},         // half of the burst is left
      {0, 1'500, 500},       // 500 bytes are owed
      {500, 100, 100},       // paid for, and 100 more are owed
      {600, 0, 0},           //
      {1'600, 900, 0},       // 1,000 had come in
      {1'600, 200, 100},     //
      {60'000, 2'100, 100},  // however long it rests, it saves no more than the burst
  };
  for (const Step& step : steps) {
    if (step.spent > 0) pace_.spend(step.spent, milliseconds(step.at_ms));
    EXPECT_EQ(wait(milliseconds(step.at_ms)), milliseconds(step.wait_ms))
        << "at " << step.at_ms << " ms, after " << step.spent << " bytes";
  }
}

TEST_F(PaceTest, WhatIsLargerThanTheBurstIsPaidForAfterwards) {
  EXPECT_EQ(wait(milliseconds(0)), milliseconds(0));
  pace_.spend(10'000, Time(0));
  EXPECT_EQ(wait(milliseconds(0)), milliseconds(8'000));
}

TEST_F(PaceTest, HasRestedOnceAllHasComeInAgain) {
  EXPECT_TRUE(pace_.rested(Time(0)));
  pace_.spend(3'000, Time(0));
  EXPECT_FALSE(pace_.rested(milliseconds(2'999)));
  EXPECT_TRUE(pace_.rested(milliseconds(3'000)));
}

// As many calls as it asks for, at each millisecond.
TEST_F(PaceTest, InTheLongRunARegionGetsWhatThePaceSays) {
  size_t spent = 0;
  for (int ms = 0; ms < 60'000; ++ms) {
    while (wait(milliseconds(ms)) == milliseconds(0) && pace_.begins() <= milliseconds(ms)) {
      pace_.spend(70, milliseconds(ms));
      spent += 70;
    }
  }
  EXPECT_GE(spent, 61'900u);
  EXPECT_LE(spent, 62'100u);
}

}  // namespace
}  // namespace davit

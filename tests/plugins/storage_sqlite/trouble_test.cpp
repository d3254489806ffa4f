#include "trouble.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "davit/testing/host.hpp"

namespace davit::storage_sqlite {
namespace {

class TroubleTest : public ::testing::Test {
 protected:
  void fails(Trouble::Doing doing, const std::string& why, Code code = Code::unavailable) {
    const Error error{code, why};
    trouble_.note(doing, &error);
  }
  void works(Trouble::Doing doing) { trouble_.note(doing, nullptr); }
  std::string health() { return std::to_string(host_.health()) + " " + host_.health_reason(); }
  static std::string says(int32_t health, const std::string& reason = {}) {
    return std::to_string(health) + " " + reason;
  }
  davit::testing::TestHost host_;
  Trouble trouble_{host_};
};

TEST_F(TroubleTest, WhoCannotReadServesNobody) {
  fails(Trouble::reading, "disk I/O error");
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "disk I/O error"));
  works(Trouble::reading);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
}

TEST_F(TroubleTest, WhoCannotWriteIsDegraded) {
  fails(Trouble::writing, "no space", Code::resource_exhausted);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_DEGRADED, "no space"));
  works(Trouble::writing);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
}

TEST_F(TroubleTest, OfTwoTroublesTheWorseIsSaidAndThenTheOther) {
  fails(Trouble::reading, "cannot read");
  fails(Trouble::writing, "cannot write");
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "cannot read"));
  works(Trouble::reading);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_DEGRADED, "cannot write"));
  works(Trouble::writing);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
}

TEST_F(TroubleTest, FilesThatAreLostWhileTheDiskIsFullAreSaid) {
  fails(Trouble::writing, "no space", Code::resource_exhausted);
  fails(Trouble::writing, "the file was removed", Code::data_loss);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "the file was removed"));
  EXPECT_TRUE(host_.logged("the file was removed"));
  fails(Trouble::writing, "no space", Code::resource_exhausted);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "the file was removed"));
  works(Trouble::writing);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
  fails(Trouble::writing, "no space", Code::resource_exhausted);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_DEGRADED, "no space"));
}

// Whichever of two calls that run at once ends last, one that works after both shows.
TEST_F(TroubleTest, AFailureThatASuccessOvertakesIsNotSaidForEver) {
  const std::string slow_to_say(256 << 10, 'x');
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> told{false};
    std::thread failing([&] {
      fails(Trouble::reading, slow_to_say);
      told = true;
    });
    while (!told) works(Trouble::reading);
    failing.join();
    works(Trouble::reading);
    ASSERT_EQ(host_.health(), DAVIT_HEALTH_SERVING) << "in round " << round;
  }
}

TEST_F(TroubleTest, WhatTheCallerDidWrongSaysNothingOfTheDatabase) {
  works(Trouble::reading);
  const std::string before = health();
  fails(Trouble::reading, "below the purge mark", Code::out_of_range);
  EXPECT_EQ(health(), before);
}

}  // namespace
}  // namespace davit::storage_sqlite

#include "database_health.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "davit/testing/host.hpp"

namespace davit::storage_sqlite {
namespace {

class DatabaseHealthTest : public ::testing::Test {
 protected:
  void fails(DatabaseHealth::Doing doing, const std::string& why, Code code = Code::unavailable) {
    const Error error{code, why};
    health_.note(doing, &error);
  }
  void works(DatabaseHealth::Doing doing) { health_.note(doing, nullptr); }
  std::string health() { return std::to_string(host_.health()) + " " + host_.health_reason(); }
  static std::string says(int32_t health, const std::string& reason = {}) {
    return std::to_string(health) + " " + reason;
  }
  davit::testing::TestHost host_;
  DatabaseHealth health_{host_};
};

TEST_F(DatabaseHealthTest, WhoCannotReadServesNobody) {
  fails(DatabaseHealth::reading, "disk I/O error");
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "disk I/O error"));
  works(DatabaseHealth::reading);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
}

TEST_F(DatabaseHealthTest, WhoCannotWriteIsDegraded) {
  fails(DatabaseHealth::writing, "no space", Code::resource_exhausted);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_DEGRADED, "no space"));
  works(DatabaseHealth::writing);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
}

TEST_F(DatabaseHealthTest, OfTwoFailuresTheWorseIsShownAndThenTheOther) {
  fails(DatabaseHealth::reading, "cannot read");
  fails(DatabaseHealth::writing, "cannot write");
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "cannot read"));
  works(DatabaseHealth::reading);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_DEGRADED, "cannot write"));
  works(DatabaseHealth::writing);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
}

TEST_F(DatabaseHealthTest, FilesThatAreLostWhileTheDiskIsFullAreShown) {
  fails(DatabaseHealth::writing, "no space", Code::resource_exhausted);
  fails(DatabaseHealth::writing, "the file was removed", Code::data_loss);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "the file was removed"));
  EXPECT_TRUE(host_.logged("the file was removed"));
  fails(DatabaseHealth::writing, "no space", Code::resource_exhausted);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_NOT_SERVING, "the file was removed"));
  works(DatabaseHealth::writing);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_SERVING));
  fails(DatabaseHealth::writing, "no space", Code::resource_exhausted);
  EXPECT_EQ(health(), says(DAVIT_HEALTH_DEGRADED, "no space"));
}

// Whichever of two calls that run at once ends last, one that works after both shows.
TEST_F(DatabaseHealthTest, AFailureThatASuccessOvertakesIsNotShownForEver) {
  const std::string slow_to_say(256 << 10, 'x');
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> told{false};
    std::thread failing([&] {
      fails(DatabaseHealth::reading, slow_to_say);
      told = true;
    });
    while (!told) works(DatabaseHealth::reading);
    failing.join();
    works(DatabaseHealth::reading);
    ASSERT_EQ(host_.health(), DAVIT_HEALTH_SERVING) << "in round " << round;
  }
}

TEST_F(DatabaseHealthTest, WhatTheCallerDidWrongSaysNothingOfTheDatabase) {
  works(DatabaseHealth::reading);
  const std::string before = health();
  fails(DatabaseHealth::reading, "below the purge mark", Code::out_of_range);
  EXPECT_EQ(health(), before);
}

}  // namespace
}  // namespace davit::storage_sqlite

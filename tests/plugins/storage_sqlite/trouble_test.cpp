#include "trouble.hpp"

#include <gtest/gtest.h>

#include "davit/testing/host.hpp"

namespace davit::storage_sqlite {
namespace {

class TroubleTest : public ::testing::Test {
 protected:
  void fails(Trouble::Doing doing, const std::string& why, Code code = Code::unavailable) {
    const Error error{code, why, {}, {}};
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

TEST_F(TroubleTest, WhatTheCallerDidWrongSaysNothingOfTheDatabase) {
  works(Trouble::reading);
  const std::string before = health();
  fails(Trouble::reading, "below the purge mark", Code::out_of_range);
  EXPECT_EQ(health(), before);
}

}  // namespace
}  // namespace davit::storage_sqlite

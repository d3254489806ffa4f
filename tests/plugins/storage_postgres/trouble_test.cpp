#include "trouble.hpp"

#include <gtest/gtest.h>
#include <davit/testing/host.hpp>

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;
using Access = Trouble::Access;

class TroubleTest : public ::testing::Test {
 protected:
  void succeeds(Access access) { trouble_.note(access, nullptr); }
  void fails(Access access, Code code, const std::string& why = "no") {
    const Error error{code, why};
    trouble_.note(access, &error);
  }
  testing::TestHost host_{"main", {}, testing::TestHost::Time::manual};
  Trouble trouble_{host_.host()};
};

TEST_F(TroubleTest, AnySuccessEndsWhatIsNotAFullDisk) {
  fails(Access::write, Code::unavailable);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_NOT_SERVING);
  EXPECT_EQ(host_.health_reason(), "no");
  succeeds(Access::read);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(TroubleTest, AFullDiskDegradesUntilWritesHaveBeenTakenForAWhile) {
  fails(Access::write, Code::resource_exhausted);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_TRUE(host_.logged("error: database takes no writes error=no"));
  host_.advance(9s);
  succeeds(Access::write);  // a small one, that found room
  fails(Access::write, Code::resource_exhausted);
  host_.advance(9s);
  succeeds(Access::write);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_DEGRADED);
  host_.advance(1s);
  succeeds(Access::read);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_DEGRADED) << "a read says nothing of the room";
  succeeds(Access::write);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
  EXPECT_TRUE(host_.logged("info: database works again failures=2"));
}

TEST_F(TroubleTest, ADatabaseThatIsAwayIsWorseThanAFullOne) {
  fails(Access::write, Code::resource_exhausted);
  fails(Access::read, Code::unavailable);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_NOT_SERVING);
  succeeds(Access::read);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(TroubleTest, HealthHasTheNewestReason) {
  fails(Access::read, Code::unavailable, "connection refused");
  fails(Access::read, Code::unavailable, "password authentication failed");
  EXPECT_EQ(host_.health_reason(), "password authentication failed");
  EXPECT_EQ(host_.log().size(), 1U);
}

TEST_F(TroubleTest, WhatTheCallerDidWrongSaysNothing) {
  for (const Code code : {Code::out_of_range, Code::cancelled, Code::deadline_exceeded,
                          Code::invalid_argument, Code::aborted})
    fails(Access::write, code);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_STARTING);
}

}  // namespace
}  // namespace davit::storage_postgres

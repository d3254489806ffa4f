// Through the recorder: a region that says more than its pace allows waits, and another does not.
#include <davit/v1/agent.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RegionPaceTest : public ::testing::Test {
 protected:
  // A report of 100 KB spends the burst and half a second more.
  static constexpr size_t much = 100'000;

  RegionPaceTest()
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
             testing::Config{{"bytes_per_second_per_region_max", 65'536},
                             {"burst_bytes_per_region_max", 65'536}}) {
    rig_.up();
    for (const char* region : {"evil", "eu"}) rig_.put("w", "running", true, {}, region);
  }

  davit_rpc_call& call(const std::string& method, const google::protobuf::Message& message,
                       const std::string& region, milliseconds timeout = {}) {
    auto& c = rig_.rpc.call("davit.v1.AgentService/" + method, message.SerializeAsString(), region,
                            [&](davit_rpc_call& made) {
                              if (timeout.count() > 0)
                                made.deadline_ns = (rig_.host.now() + timeout).count();
                            });
    rig_.host.run();
    return c;
  }
  davit_rpc_call& report(const std::string& region, int ready, size_t size = 0,
                         milliseconds timeout = {}) {
    v1::ReportRequest request;
    auto* s = request.add_statuses();
    s->set_kind("widget");
    s->set_id("w");
    s->set_epoch(1);
    s->set_sequence(static_cast<uint64_t>(ready));
    s->set_ready(ready);
    s->set_message(std::string(size, 'm'));
    return call("Report", request, region, timeout);
  }
  int64_t stored(const std::string& region) {
    int64_t ready = 0;
    EXPECT_TRUE(rig_.storage
                    .statuses({{"widget", region}, {}, 10},
                              [&](const davit_status& s) {
                                ready = s.ready;
                                return true;
                              })
                    .ok());
    return ready;
  }

  testing::ServerRig rig_;
};

TEST_F(RegionPaceTest, ARegionBeyondItsPaceWaitsAndAnotherDoesNot) {
  EXPECT_EQ(report("evil", 1, much).end->code, Code::ok) << "a large one goes";
  const auto& first = report("evil", 2);
  const auto& second = report("evil", 3);
  EXPECT_EQ(report("eu", 7).end->code, Code::ok);
  rig_.host.advance(milliseconds(500));
  EXPECT_FALSE(first.end);
  EXPECT_EQ(stored("evil"), 1);
  EXPECT_TRUE(rig_.host.logged("ask for more than its pace allows; their calls wait region=evil"));
  EXPECT_FALSE(rig_.host.logged("region=eu"));
  rig_.host.advance(seconds(1));
  ASSERT_TRUE(first.end && second.end);
  EXPECT_EQ(first.end->code, Code::ok);
  EXPECT_EQ(second.end->code, Code::ok);
  EXPECT_EQ(stored("evil"), 3) << "nothing of it is lost";
  EXPECT_GE(rig_.host.metric("davit_recorder_pace_wait_seconds"), 1);
}

TEST_F(RegionPaceTest, WhatWaitsForLongerThanItsDeadlineIsNotDone) {
  report("evil", 1, much);
  const auto& late = report("evil", 2, 0, milliseconds(100));
  rig_.host.advance(seconds(2));
  ASSERT_TRUE(late.end);
  EXPECT_EQ(late.end->code, Code::deadline_exceeded);
  EXPECT_EQ(stored("evil"), 1);
}

TEST_F(RegionPaceTest, StatusesCountByTheirNumberHoweverShortTheyAre) {
  v1::ReportRequest many;
  for (int i = 0; i < 1'000; ++i) {
    many.add_statuses()->set_kind("widget");
    many.mutable_statuses(i)->set_id("n");
  }
  ASSERT_LT(many.ByteSizeLong(), 20'000u);
  EXPECT_EQ(call("Report", many, "evil").end->code, Code::ok);
  const auto& next = report("evil", 2);
  rig_.host.advance(seconds(2));
  EXPECT_FALSE(next.end);
  rig_.host.advance(seconds(2));
  EXPECT_TRUE(next.end);
}

TEST_F(RegionPaceTest, AWordOfProgressCountsAsATransaction) {
  v1::ProgressRequest progress;
  progress.set_agent("a");
  EXPECT_EQ(call("Progress", progress, "evil").end->code, Code::ok);
  const auto& next = call("Progress", progress, "evil");
  EXPECT_FALSE(next.end);
  rig_.host.advance(seconds(1));
  EXPECT_TRUE(next.end);
}

TEST_F(RegionPaceTest, WhoWaitsIsToldWhenTheServerEnds) {
  report("evil", 1, 10 * much);
  const auto& waits = report("evil", 2);
  ASSERT_FALSE(waits.end);
  ASSERT_TRUE(rig_.down().ok());
  ASSERT_TRUE(waits.end);
  EXPECT_EQ(waits.end->message, "the server is shutting down");
  EXPECT_EQ(stored("evil"), 1);
}

}  // namespace
}  // namespace davit::recorder

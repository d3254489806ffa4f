// The reporter as it is loaded, behind a gate that the test opens.
#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include <davit/sink.hpp>

#include "../fakes/fake_gate.hpp"
#include "../fakes/stop_running.hpp"
#include "../watcher/fake_rpc.hpp"

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;
using testing::FakeGate;
using testing::FakeRpc;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

class BehindAGate : public ::testing::Test {
 protected:
  BehindAGate()
      : host_("reporter", {{"server", "control"}}, TestHost::Time::manual),
        rpc_(host_, "davit.v1"),
        gate_(host_, "leader"),
        module_(*Loaded::open(REPORTER)),
        reporter_(module_.plugin(), host_) {
    const auto up = reporter_.up();
    EXPECT_TRUE(up.ok()) << up.error().message;
    Status s;
    s.key = {"deployment", "eu", "a"};
    EXPECT_TRUE(sink::StatusClient(reporter_.ref(DAVIT_STATUS_SINK)).offer(s).ok());
    host_.advance(1min);
  }

  TestHost host_;
  FakeRpc rpc_;
  FakeGate gate_;
  Loaded module_;
  Instance reporter_;
};

TEST_F(BehindAGate, StandsBySaysNothingAndIsWell) {
  EXPECT_TRUE(rpc_.calls.empty());
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(host_.health_reason(), "standing by until \"leader\" opens");
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(testing::stop_running(reporter_, host_).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s) << "there is nothing to wait for";
  gate_.open(7);
  host_.advance(1min);
  EXPECT_TRUE(rpc_.calls.empty()) << "it has stopped";
}

TEST_F(BehindAGate, TakesItsEpochFromTheGate) {
  gate_.open(Epoch(7'000'000'000'000));
  host_.advance(1s);
  v1::ProgressRequest progress;
  ASSERT_NE(rpc_.open("Progress"), nullptr);
  ASSERT_TRUE(progress.ParseFromString(rpc_.open("Progress")->request));
  EXPECT_EQ(progress.epoch(), 7'000'000'000'000u);
  rpc_.answer(*rpc_.open("Progress"), "");
  host_.advance(1s);
  v1::ReportRequest report;
  ASSERT_NE(rpc_.open("Report"), nullptr);
  ASSERT_TRUE(report.ParseFromString(rpc_.open("Report")->request));
  EXPECT_EQ(report.statuses(0).epoch(), 7'000'000'000'000u) << "of what was offered before, too";
  rpc_.answer(*rpc_.open("Report"), v1::ReportResponse().SerializeAsString());
  EXPECT_TRUE(testing::stop_running(reporter_, host_).ok());
}

TEST(TwoGates, NeedTheSettingThatNamesOne) {
  for (const bool named : {false, true}) {
    testing::Config settings{{"server", "control"}};
    if (named) settings.set({"gate", "second"});
    TestHost host("reporter", settings, TestHost::Time::manual);
    FakeRpc rpc(host, "davit.v1");
    FakeGate one(host, "leader"), other(host, "second");
    const auto module = *Loaded::open(REPORTER);
    Instance reporter(module.plugin(), host);
    const auto up = reporter.up();
    EXPECT_EQ(up.ok(), named);
    if (!named) continue;
    EXPECT_EQ(host.health_reason(), "standing by until \"second\" opens");
    EXPECT_TRUE(testing::stop_running(reporter, host).ok());
    other.open(0);
  }
}

TEST(WithoutAGate, ItsEpochIsTheStartOfTheProcess) {
  TestHost host("reporter", {{"server", "control"}}, TestHost::Time::manual);
  FakeRpc rpc(host, "davit.v1");
  const auto module = *Loaded::open(REPORTER);
  Instance reporter(module.plugin(), host);
  const auto started_at = static_cast<uint64_t>(host.host().unix_ms());
  ASSERT_TRUE(reporter.up().ok());
  host.advance(1s);
  v1::ProgressRequest progress;
  ASSERT_NE(rpc.open("Progress"), nullptr);
  ASSERT_TRUE(progress.ParseFromString(rpc.open("Progress")->request));
  EXPECT_EQ(progress.epoch(), started_at);
  rpc.answer(*rpc.open("Progress"), "");
  EXPECT_TRUE(testing::stop_running(reporter, host).ok());
}

}  // namespace
}  // namespace davit::reporter

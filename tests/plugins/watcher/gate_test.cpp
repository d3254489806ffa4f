// The watcher as it is loaded, behind a gate that the test opens.
#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include "../fakes/fake_gate.hpp"
#include "../fakes/stop_running.hpp"
#include "../fakes/widget.hpp"
#include "fake_rpc.hpp"
#include "fake_sink.hpp"

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;
using testing::FakeGate;
using testing::FakeRpc;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

struct QuietSink : FakeSink {
  void begin(sink::Stream*, const sink::Begin&) {}
  bool offer(sink::Stream*, const sink::Change&) { return true; }
  void bookmark(sink::Stream*, const sink::Bookmark&) {}
};

class BehindAGate : public ::testing::Test {
 protected:
  BehindAGate()
      : kind_host_("widget", {}, TestHost::Time::manual),
        host_(kind_host_, "watcher", {{"server", "control"}, {"sink", "applier"}}),
        rpc_(host_, "davit.v1"),
        gate_(host_, "leader"),
        module_(*Loaded::open(WATCHER)),
        kind_(testing::widget_plugin(), kind_host_),
        watcher_(module_.plugin(), host_) {
    add_sink(host_, sink_);
    EXPECT_TRUE(kind_.up().ok());
    const auto up = watcher_.up();
    EXPECT_TRUE(up.ok()) << up.error().message;
    host_.advance(1min);
  }

  TestHost kind_host_, host_;
  FakeRpc rpc_;
  FakeGate gate_;
  QuietSink sink_;
  Loaded module_;
  Instance kind_, watcher_;
};

TEST_F(BehindAGate, StandsByAndIsWell) {
  EXPECT_TRUE(rpc_.calls.empty());
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(host_.health_reason(), "standing by until \"leader\" opens");
  EXPECT_TRUE(testing::stop_running(watcher_, host_).ok());
  gate_.open(0);
}

TEST_F(BehindAGate, OpensItsStreamsWithTheGate) {
  gate_.open(7);
  host_.run();
  EXPECT_NE(rpc_.open("Watch"), nullptr);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_STARTING);
  EXPECT_EQ(host_.health_reason(), "widget: not connected yet");
  EXPECT_TRUE(testing::stop_running(watcher_, host_).ok());
}

TEST_F(BehindAGate, AGateThatOpensAfterItsStopOpensNothing) {
  EXPECT_TRUE(testing::stop_running(watcher_, host_).ok());
  gate_.open(7);
  host_.run();
  EXPECT_TRUE(rpc_.calls.empty());
}

// What a watcher of these settings says that finds two gates.
std::string behind_one_of_two(const testing::Config& settings, std::string* waits_for = nullptr) {
  TestHost host("watcher", settings, TestHost::Time::manual);
  FakeRpc rpc(host, "davit.v1");
  QuietSink sink;
  host.add_role("applier", DAVIT_CHANGE_SINK, reinterpret_cast<davit_instance*>(&sink),
                sink::ChangeRole::vtable<QuietSink>());
  FakeGate one(host, "leader"), other(host, "second");
  const auto module = *Loaded::open(WATCHER);
  Instance watcher(module.plugin(), host);
  const auto up = watcher.up();
  if (!up.ok()) return up.error().message;
  *waits_for = host.health_reason();
  EXPECT_TRUE(testing::stop_running(watcher, host).ok());
  one.open(0);
  other.open(0);
  return {};
}

TEST(TwoGates, NeedTheSettingThatNamesOne) {
  EXPECT_EQ(
      behind_one_of_two({{"server", "control"}, {"sink", "applier"}}),
      "several instances offer davit.gate/1: \"leader\", \"second\"; name one of them: gate = "
      "\"leader\"");
  std::string reason;
  EXPECT_EQ(
      behind_one_of_two({{"server", "control"}, {"sink", "applier"}, {"gate", "second"}}, &reason),
      "");
  EXPECT_EQ(reason, "standing by until \"second\" opens");
}

// A sink of an earlier minor, which does not understand how the stream begins.
TEST(ASinkThatRefuses, EndsTheCallAndTheStreamIsMadeAnew) {
  TestHost kind_host("widget", {}, TestHost::Time::manual);
  TestHost host(kind_host, "watcher", {{"server", "control"}, {"sink", "applier"}});
  FakeRpc rpc(host, "davit.v1");
  QuietSink sink;
  static davit_change_sink table =
      *static_cast<const davit_change_sink*>(sink::ChangeRole::vtable<QuietSink>());
  table.begin = [](davit_instance*, davit_change_stream*, const davit_begin*, davit_error* e) {
    return fill(e, {Code::unimplemented, "unknown beginning"});
  };
  host.add_role("applier", DAVIT_CHANGE_SINK, reinterpret_cast<davit_instance*>(&sink), &table);
  Instance kind(testing::widget_plugin(), kind_host);
  ASSERT_TRUE(kind.up().ok());
  const auto module = *Loaded::open(WATCHER);
  Instance watcher(module.plugin(), host);
  ASSERT_TRUE(watcher.up().ok());
  host.run();
  ASSERT_NE(rpc.open("Watch"), nullptr);
  v1::Frame begin;
  begin.set_kind("widget");
  begin.mutable_bookmark()->set_type(v1::Bookmark::TYPE_BEGIN_SNAPSHOT);
  rpc.message(*rpc.open("Watch"), begin.SerializeAsString());
  EXPECT_EQ(rpc.open("Watch"), nullptr);
  EXPECT_TRUE(host.logged("the sink refuses: unknown beginning"));
  host.advance(1min);
  EXPECT_NE(rpc.open("Watch"), nullptr) << "it may be another sink by then";
  EXPECT_TRUE(testing::stop_running(watcher, host).ok());
}

}  // namespace
}  // namespace davit::watcher

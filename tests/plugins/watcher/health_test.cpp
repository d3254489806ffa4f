// What the watcher, as it is loaded, says of its health.
#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include <deque>

#include "../fakes/widget.hpp"
#include "fake_rpc.hpp"
#include "fake_sink.hpp"

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;
using testing::TestHost;

// A sink of several streams.
struct TakingSink {
  struct Opened : sink::Stream {
    sink::Source source;
  };
  std::deque<Opened> streams;

  Result<sink::Stream*> open(const std::string&, const std::string&, sink::Source s) {
    streams.emplace_back().source = std::move(s);
    return static_cast<sink::Stream*>(&streams.back());
  }
  void close(sink::Stream* s) { static_cast<Opened*>(s)->source.closed(); }
  void begin(sink::Stream*, const sink::Begin&) {}
  bool offer(sink::Stream*, const sink::Change&) { return true; }
  void bookmark(sink::Stream*, const sink::Bookmark&) {}
};

// Watches the kinds widget and gadget.
class HealthTest : public ::testing::Test {
 protected:
  HealthTest()
      : kind_host_("widget", {}, TestHost::Time::manual),
        other_host_(kind_host_, "gadget"),
        host_(kind_host_, "watcher", {{"server", "control"}, {"sink", "applier"}}),
        rpc_(host_, "davit.v1"),
        module_(*testing::Loaded::open(WATCHER)),
        kind_(testing::widget_plugin(), kind_host_),
        other_(testing::gadget_plugin(), other_host_),
        watcher_(module_.plugin(), host_) {
    add_sink(host_, sink_);
    EXPECT_TRUE(kind_.up().ok());
    EXPECT_TRUE(other_.up().ok());
    const auto up = watcher_.up();
    EXPECT_TRUE(up.ok()) << up.error().message;
    host_.run();
  }
  ~HealthTest() override { EXPECT_TRUE(testing::stop_running(watcher_, host_).ok()); }

  std::string said() const {
    static constexpr const char* words[] = {"starting", "serving", "degraded", "not serving"};
    return words[host_.health()] + (": " + host_.health_reason());
  }
  testing::FakeRpc::Call* watch_of(const std::string& kind) {
    for (const auto& call : rpc_.calls) {
      v1::WatchRequest request;
      if (call->ended || !request.ParseFromString(call->request)) continue;
      if (request.subscriptions(0).kind() == kind) return call.get();
    }
    return nullptr;
  }
  void answer(const std::string& kind) {
    v1::Frame begin;
    begin.set_kind(kind);
    begin.mutable_bookmark()->set_type(v1::Bookmark::TYPE_BEGIN_SNAPSHOT);
    rpc_.message(*watch_of(kind), begin.SerializeAsString());
  }

  TestHost kind_host_, other_host_, host_;
  testing::FakeRpc rpc_;
  TakingSink sink_;
  testing::Loaded module_;
  testing::Instance kind_, other_, watcher_;
};

TEST_F(HealthTest, IsServingWhenAllStreamsAreConnectedAndNotBefore) {
  EXPECT_EQ(said(), "starting: gadget: not connected yet");
  answer("gadget");
  EXPECT_EQ(said(), "starting: widget: not connected yet");
  answer("widget");
  EXPECT_EQ(said(), "serving: ");
}

// An agent that cannot reach its server goes on with what it has.
TEST_F(HealthTest, IsDegradedWhenAStreamCannotBeConnected) {
  rpc_.end(*watch_of("widget"), Code::unavailable, "no route");
  EXPECT_EQ(said(), "degraded: widget: no route");
  answer("gadget");
  EXPECT_EQ(said(), "degraded: widget: no route");
  host_.advance(10s);
  answer("widget");
  EXPECT_EQ(said(), "serving: ");
  rpc_.end(*watch_of("gadget"), Code::unavailable, "gone");
  EXPECT_EQ(said(), "degraded: gadget: gone") << "and not starting again";
}

}  // namespace
}  // namespace davit::watcher

// A kind that cannot classify a record, now or ever: what streams and point queries make of it.
#include <davit/delays.hpp>

#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

using namespace std::chrono_literals;
using testing::Widget;

class BusyKindTest : public StreamTest {
 protected:
  BusyKindTest() : rig_(start()) {}
  ~BusyKindTest() override { Widget::busy = Widget::mute = false; }

  davit_rpc_call& watch(const std::string& region = "eu") {
    auto& call = rig_->rpc.call(watch_path, watch_request(), region);
    rig_->host.run();
    return call;
  }
  Code get(const std::string& id) {
    v1::GetRequest r;
    r.set_kind("widget");
    r.set_id(id);
    auto& call = rig_->rpc.call(get_path, r.SerializeAsString());
    rig_->host.run();
    return call.end ? call.end->code : Code::unknown;
  }

  std::vector<Delay> delayed() { return DelaysClient(rig_->store_host.host()).all(); }

  // Without the bookmarks at version 2, which an idle stream repeats.
  static std::string records(std::string said) {
    const std::string idle = "mark(2)";
    for (size_t at = 0; (at = said.find(idle)) != std::string::npos;)
      said.erase(at, idle.size() + (at + idle.size() < said.size() ? 1 : 0));
    return said;
  }

  std::unique_ptr<ServerRig> rig_;
};

TEST_F(BusyKindTest, DelaysASnapshotFromTheRecordOn) {
  rig_->put("a");
  rig_->put("slow");
  rig_->put("b");
  Widget::busy = true;
  auto& call = watch();
  EXPECT_EQ(show(call), "begin +a");
  rig_->host.advance(1h);
  EXPECT_EQ(show(call), "") << "no hold, no delete, no end";
  EXPECT_FALSE(call.end);
  Widget::busy = false;
  rig_->host.advance(1min);
  EXPECT_TRUE(show(call).starts_with("+slow +b end(3)")) << "in their order";
}

TEST_F(BusyKindTest, DelaysATailFromTheRecordOnAndNoOtherRegion) {
  rig_->put("a");
  rig_->put("u", "running", true, {}, "us");
  auto& call = watch();
  auto& other = watch("us");
  show(call);
  show(other);
  Widget::busy = true;
  rig_->put("slow");
  rig_->put("b");
  rig_->put("v", "running", true, {}, "us");
  rig_->host.advance(1h);
  EXPECT_EQ(records(show(call)), "") << "and the cursor stays below";
  EXPECT_FALSE(call.end);
  EXPECT_TRUE(show(other).starts_with("+v ")) << "another region goes on";
  EXPECT_TRUE(rig_->host.logged("records wait for their kind"));
  Widget::busy = false;
  rig_->host.advance(1min);
  EXPECT_TRUE(records(show(call)).starts_with("+slow +b")) << "in their order";
}

TEST_F(BusyKindTest, IsToldOfWithTheRecordItsReasonAndSinceWhen) {
  rig_->put("a");
  auto& call = watch();
  show(call);
  Widget::busy = true;
  const Version version = rig_->put("slow");
  const int64_t since = rig_->host.host().unix_ms();
  rig_->host.run();
  for (const auto passed : {0s, 3600s}) {
    rig_->host.advance(passed);
    const auto delays = delayed();
    ASSERT_EQ(delays.size(), 1u) << passed.count();
    EXPECT_EQ(delays[0].key, (Key{"widget", "eu", "slow"}));
    EXPECT_EQ(delays[0].stage, Delay::stream);
    EXPECT_EQ(delays[0].version, version);
    EXPECT_EQ(delays[0].reason, "kind widget: its process is starting");
    EXPECT_EQ(delays[0].since_unix_ms, since);
  }
  Widget::busy = false;
  rig_->host.advance(1min);
  EXPECT_TRUE(delayed().empty());
}

// Where no agent watches nobody asks the kind for a stream.
TEST_F(BusyKindTest, IsAskedAgainForARegionWithoutAgents) {
  Widget::busy = true;
  rig_->put("slow");
  rig_->host.advance(1h);
  EXPECT_EQ(delayed().size(), 1u);
  Widget::busy = false;
  rig_->host.advance(1min);
  EXPECT_TRUE(delayed().empty());
}

TEST_F(BusyKindTest, DelaysNoRecordThatIsGone) {
  Widget::busy = true;
  rig_->put("slow");
  rig_->host.run();
  EXPECT_EQ(delayed().size(), 1u);
  rig_->kill("slow");
  rig_->host.run();
  EXPECT_TRUE(delayed().empty());
}

TEST_F(BusyKindTest, IsToldOfWhenOnlyKranesAgentsWait) {
  auto& call = rig_->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  auto& ours = watch();
  rig_->host.run();
  Widget::mute = true;
  rig_->put("slow");
  rig_->host.advance(1h);
  ASSERT_EQ(delayed().size(), 1u);
  EXPECT_EQ(delayed()[0].stage, Delay::ctrl_v1);
  EXPECT_TRUE(show(ours).find("+slow") != std::string::npos);
  Widget::mute = false;
  rig_->host.advance(1min);
  EXPECT_EQ(call.messages.size(), 1u);
  EXPECT_TRUE(delayed().empty());
}

TEST_F(BusyKindTest, IsAskedAgainAsSeldomAsItWishes) {
  rig_->put("slow");
  Widget::busy = true;
  watch();
  const double before = rig_->host.metric("davit_streamer_ring_misses_total");
  rig_->host.advance(60s);
  EXPECT_LE(rig_->host.metric("davit_streamer_ring_misses_total") - before, 31);
  EXPECT_GE(rig_->host.metric("davit_streamer_ring_misses_total") - before, 2);
}

TEST_F(BusyKindTest, MakesAPointQueryUnavailable) {
  rig_->put("slow");
  rig_->put("a");
  Widget::busy = true;
  EXPECT_EQ(get("slow"), Code::unavailable);
  EXPECT_EQ(get("a"), Code::ok);
  Widget::busy = false;
  EXPECT_EQ(get("slow"), Code::ok);
}

TEST_F(BusyKindTest, ThatFailsForGoodHoldsTheRecord) {
  rig_->put("a", "broken");
  rig_->put("b");
  EXPECT_EQ(show(watch()), "begin =a +b end(2)");
  EXPECT_TRUE(rig_->host.logged("cannot classify it: a bug"));
}

TEST_F(BusyKindTest, ThatAnswersAnUnknownClassHoldsTheRecord) {
  rig_->put("a", "odd");
  EXPECT_EQ(show(watch()), "begin =a end(1)");
  EXPECT_EQ(get("a"), Code::ok);
  auto& call = watch("us");
  show(call);
  rig_->put("t", "odd", true, {}, "us");
  rig_->host.run();
  EXPECT_TRUE(show(call).starts_with("=t")) << "in a tail as in a snapshot";
}

// A Krane agent gets what the kind makes for it.
TEST_F(BusyKindTest, ThatCannotMakeAMessageForKraneDelaysItAndHoldsNothing) {
  auto& call = rig_->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig_->host.run();
  rig_->put("a");
  rig_->host.run();
  ASSERT_EQ(call.messages.size(), 1u);
  Widget::mute = true;
  rig_->put("slow");
  rig_->put("b");
  rig_->host.advance(1h);
  EXPECT_EQ(call.messages.size(), 1u);
  EXPECT_FALSE(call.end);
  EXPECT_FALSE(rig_->host.logged("record held"));
  Widget::mute = false;
  rig_->host.advance(1min);
  ASSERT_EQ(call.messages.size(), 3u);
  EXPECT_NE(call.messages[1].find("slow"), std::string::npos);
}

}  // namespace
}  // namespace davit::streamer

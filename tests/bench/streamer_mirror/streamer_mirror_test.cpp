#include "streamer/stream_rig.hpp"

namespace davit::streamer {
namespace {

constexpr const char* ctrl_watch = "ctrl.v1.ClusterService/WatchWidgets";

// As the host ends a stream before the plugin stops.
void end(ServerRig& rig, davit_rpc_call& call) {
  call.cancel();
  rig.host.run();
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::unavailable);
}

TEST_F(StreamTest, MirrorPollsOnceASecondAndSendsOneRecordAMessage) {
  auto rig = start();
  for (int i = 0; i < 3; ++i) rig->put("w" + std::to_string(i));
  auto& call = rig->rpc.call(ctrl_watch, "");
  rig->host.run();
  EXPECT_EQ(call.messages.size(), 3u);
  rig->put("late");
  rig->host.advance(std::chrono::milliseconds(900));
  EXPECT_EQ(call.messages.size(), 3u);
  rig->host.advance(std::chrono::milliseconds(200));
  EXPECT_EQ(call.messages.size(), 4u);
  end(*rig, call);
}

TEST_F(StreamTest, MirrorReadsPagesOfAHundredUntilNothingIsLeft) {
  auto rig = start();
  for (int i = 0; i < 250; ++i) rig->put("w" + std::to_string(i));
  auto& call = rig->rpc.call(ctrl_watch, "");
  rig->host.run();
  EXPECT_EQ(call.messages.size(), 250u);
  end(*rig, call);
}

TEST_F(StreamTest, MirrorAnswersPointQueries) {
  auto rig = start();
  rig->put("w1");
  auto& there = rig->rpc.call("ctrl.v1.ClusterService/GetWidget", std::string("\x0a\x02w1"));
  auto& absent = rig->rpc.call("ctrl.v1.ClusterService/GetWidget", std::string("\x0a\x02w2"));
  rig->host.run();
  EXPECT_EQ(there.messages.size(), 1u);
  ASSERT_TRUE(absent.end);
  EXPECT_EQ(absent.end->code, Code::not_found);
}

}  // namespace
}  // namespace davit::streamer

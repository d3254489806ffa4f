// Point queries of a region that asks for more than its share: another region does not wait for it.
#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

class PointQueryTest : public StreamTest {
 protected:
  PointQueryTest() : rig_(start()) { rig_->put("w"); }

  davit_rpc_call& get(const std::string& region) {
    v1::GetRequest r;
    r.set_kind("widget");
    r.set_id("w");
    return rig_->rpc.call(get_path, r.SerializeAsString(), region);
  }
  std::vector<davit_rpc_call*> flood(size_t count) {
    std::vector<davit_rpc_call*> out;
    for (size_t i = 0; i < count; ++i) out.push_back(&get("evil"));
    return out;
  }
  static size_t ended_with(const std::vector<davit_rpc_call*>& calls, Code code) {
    return static_cast<size_t>(std::count_if(
        calls.begin(), calls.end(), [&](const auto* c) { return c->end && c->end->code == code; }));
  }

  std::unique_ptr<ServerRig> rig_;
};

TEST_F(PointQueryTest, OfOneRegionWaitForEachOtherAndNotForAnothers) {
  rig_->put("w", "running", true, {}, "evil", "evil");
  const auto evil = flood(1'000);
  const auto& honest = get("eu");
  rig_->host.run();
  EXPECT_EQ(ended_with(evil, Code::ok), 1'000u);
  ASSERT_TRUE(honest.end);
  EXPECT_EQ(honest.end->code, Code::ok);
  EXPECT_LT(honest.ended_as, 100u);
}

TEST_F(PointQueryTest, TooManyOfARegionAreRefusedAndAnothersAreServed) {
  constexpr size_t many = 10'000;
  const auto evil = flood(many);
  const auto& honest = get("eu");
  rig_->host.run();
  EXPECT_EQ(ended_with(evil, Code::ok) + ended_with(evil, Code::resource_exhausted), many);
  EXPECT_GT(ended_with(evil, Code::resource_exhausted), many / 2);
  EXPECT_EQ(honest.end->code, Code::ok);
}

TEST_F(PointQueryTest, ThatWaitWhenTheServerStopsAreToldSo) {
  const auto evil = flood(1'000);
  const auto stopped = rig_->instance.stop(std::chrono::nanoseconds(0));
  ASSERT_FALSE(stopped.ok()) << "what runs already is this thread's to end";
  rig_->host.run();
  EXPECT_EQ(ended_with(evil, Code::ok) + ended_with(evil, Code::unavailable), 1'000u);
  EXPECT_GT(ended_with(evil, Code::unavailable), 0u);
}

}  // namespace
}  // namespace davit::streamer

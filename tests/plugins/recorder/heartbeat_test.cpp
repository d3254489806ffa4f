// ctrl.v1 Heartbeat: which agent it makes, and which it refuses.
#include <set>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

class HeartbeatTest : public ::testing::Test {
 protected:
  HeartbeatTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  const rpc::End& heartbeat(const std::string& message) {
    auto& c = rig_.rpc.call("ctrl.v1.ClusterService/Heartbeat", message);
    rig_.host.run();
    EXPECT_TRUE(c.end);
    return *c.end;
  }
  std::set<std::string> known() {
    std::set<std::string> out;
    EXPECT_TRUE(rig_.storage
                    .agents({},
                            [&](const davit_progress& a) {
                              out.insert(text(a.agent));
                              return true;
                            })
                    .ok());
    return out;
  }
  testing::ServerRig rig_;
};

TEST_F(HeartbeatTest, MakesAnAgentOfPlatformAndRegion) {
  EXPECT_EQ(heartbeat("\x0a\x02"
                      "eu\x12\x03"
                      "aws")
                .code,
            Code::ok);
  EXPECT_EQ(heartbeat("").code, Code::invalid_argument);
  EXPECT_EQ(known(), std::set<std::string>{"aws/eu"});
}

TEST_F(HeartbeatTest, OfANameThatNoStoreKeepsTakesNobodysPlace) {
  // A varint of two bytes says the platform's length.
  const auto of_platform = [](const std::string& platform) {
    return std::string("\x0a\x02") + "eu\x12" + static_cast<char>(platform.size() | 0x80) + "\x01" +
           platform;
  };
  const size_t places = 8;  // of a region
  const int64_t long_ago = rig_.host.host().unix_ms() - 7'200'000;
  for (size_t n = 0; n < places; ++n) {
    const Progress silent{"eu", "a" + std::to_string(n), "1", 1, {}, {}, long_ago};
    ASSERT_TRUE(rig_.storage.progress(silent).ok());
  }
  const auto before = known();
  const rpc::End& longer = heartbeat(of_platform(std::string(251, 'p')));
  EXPECT_EQ(longer.code, Code::invalid_argument);
  EXPECT_EQ(longer.message,
            "agent: the name \"platform/region\" has 254 bytes, and may have 253: name the "
            "platform shorter");
  EXPECT_EQ(known(), before);
  EXPECT_EQ(heartbeat(of_platform(std::string(250, 'p'))).code, Code::ok) << "the longest name";
  EXPECT_EQ(known().size(), places) << "an agent that is silent gives way to it";
}

TEST_F(HeartbeatTest, OfARegionThatNoStoreKeepsIsRefused) {
  const rpc::End& end = heartbeat("\x0a\x40" + std::string(64, 'r'));
  EXPECT_EQ(end.code, Code::invalid_argument);
  EXPECT_EQ(end.message, "region: has 64 bytes, and may have 63");
}

}  // namespace
}  // namespace davit::recorder

// Settings of the plugin: two values make a difference that an operator sees.
#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

// A server that purges by an operator's word only.
class Maintained {
 public:
  explicit Maintained(testing::Config config)
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
             std::move(config.set({"purge_interval_ms", 0}))) {
    rig_.up();
  }

  void wait(milliseconds time) { rig_.host.advance(time); }
  // A record that is deleted now.
  void tombstone() {
    rig_.put("a");
    rig_.kill("a");
  }
  // An agent that has applied nothing is heard of now.
  void heard_of(const std::string& agent, Epoch epoch = 1) {
    const Cursor nothing{rig_.storage.head()->head.incarnation, 0};
    const Progress said{
        "eu", agent, "davit", epoch, {{"widget", nothing}}, {}, rig_.host.host().unix_ms()};
    EXPECT_TRUE(rig_.storage.progress(said).ok());
  }
  // With no retention, so that nothing but an agent holds a tombstone.
  v1::MaintainResponse maintain() {
    v1::MaintainRequest request;
    request.set_retention_ms(0);
    return rig_.ask<v1::MaintainResponse>("OperatorService/Maintain", request);
  }
  std::string agents() {
    std::string names;
    EXPECT_TRUE(rig_.storage
                    .agents({},
                            [&](const davit_progress& p) {
                              names += text(p.agent) + " ";
                              return true;
                            })
                    .ok());
    return names;
  }

 private:
  testing::ServerRig rig_;
};

TEST(DesiredSettings, AnAgentHoldsATombstoneAsLongAsAgentHoldMaxSays) {
  for (const milliseconds hold : {milliseconds(minutes(10)), milliseconds(hours(60 * 24))}) {
    Maintained server({{"agent_hold_max_ms", int64_t{hold.count()}}});
    server.tombstone();
    server.wait(hold - milliseconds(1));
    server.heard_of("behind");
    const auto held = server.maintain();
    EXPECT_EQ(held.held_by() + " " + held.agent(), "agent behind") << hold.count();
    EXPECT_EQ(held.tombstones(), 0u) << hold.count();
    server.wait(milliseconds(1));
    EXPECT_EQ(server.maintain().tombstones(), 1u) << hold.count();
  }
}

TEST(DesiredSettings, AnAgentThatIsReplacedIsForgottenAfterAgentRetention) {
  for (const milliseconds retention : {milliseconds(minutes(10)), milliseconds(hours(60 * 24))}) {
    Maintained server({{"agent_retention_ms", int64_t{retention.count()}}});
    server.heard_of("old");
    server.wait(milliseconds(1));
    server.heard_of("new", 2);
    server.wait(retention - milliseconds(1));
    EXPECT_EQ(server.maintain().agents_forgotten(), 0u) << retention.count();
    EXPECT_EQ(server.agents(), "new old ") << retention.count();
    server.wait(milliseconds(1));
    EXPECT_EQ(server.maintain().agents_forgotten(), 1u) << retention.count();
    EXPECT_EQ(server.agents(), "new ") << retention.count();
  }
}

TEST(DesiredSettings, AValueOutOfBoundsIsRefusedByItsName) {
  for (const std::string key : {"agent_hold_max_ms", "agent_retention_ms"}) {
    const std::string why =
        testing::refusal_of(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, {{key, -1}});
    ASSERT_FALSE(why.empty()) << key;
    EXPECT_NE(why.find(key + ": must be between 0 and"), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace davit::desired

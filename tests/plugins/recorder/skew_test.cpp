// What peers of other versions send, and what comes late.
#include <davit/v1/agent.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

class SkewTest : public ::testing::Test {
 protected:
  SkewTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  davit_rpc_call& call(const std::string& path, const std::string& request) {
    auto& c = rig_.rpc.call(path, request);
    rig_.host.run();
    return c;
  }
  testing::ServerRig rig_;
};

TEST_F(SkewTest, AProgressThatComesLateReplacesNothing) {
  const auto say = [&](uint64_t epoch, uint64_t sequence, uint64_t applied) {
    v1::ProgressRequest p;
    p.set_agent("a");
    p.set_epoch(epoch);
    p.set_sequence(sequence);
    p.add_kinds()->set_kind("widget");
    p.mutable_kinds(0)->mutable_applied()->set_version(applied);
    auto& c = call("davit.v1.AgentService/Progress", p.SerializeAsString());
    EXPECT_EQ(c.end->code, Code::ok) << "it is no fault";
    v1::ProgressResponse answer;
    EXPECT_TRUE(answer.ParseFromString(c.messages.at(0)));
    return answer.epoch_taken();
  };
  const auto applied = [&] {
    uint64_t out = 0;
    EXPECT_TRUE(rig_.storage
                    .agents({},
                            [&](const davit_progress& a) {
                              out = a.kinds[0]->applied.version;
                              return true;
                            })
                    .ok());
    return out;
  };
  EXPECT_EQ(say(5, 2, 20), 0u);
  EXPECT_EQ(say(5, 1, 10), 0u);
  EXPECT_EQ(applied(), 20u);
  EXPECT_EQ(say(4, 3, 10), 5u) << "its process may go on with a greater epoch";
  EXPECT_EQ(applied(), 20u);
  EXPECT_EQ(say(6, 4, 15), 0u);
  EXPECT_EQ(applied(), 15u);
}

TEST_F(SkewTest, WhatRequiresAnUnknownFeatureIsNotStored) {
  rig_.put("a");
  v1::ReportRequest reported;
  reported.add_statuses()->set_kind("widget");
  reported.mutable_statuses(0)->set_id("a");
  reported.add_required_features("telepathy");
  v1::ProgressRequest progress;
  progress.set_agent("a");
  progress.add_required_features("telepathy");
  for (auto* c : {&call("davit.v1.AgentService/Report", reported.SerializeAsString()),
                  &call("davit.v1.AgentService/Progress", progress.SerializeAsString())}) {
    EXPECT_EQ(c->end->code, Code::unimplemented);
    EXPECT_EQ(c->end->message,
              "required_features: \"telepathy\" is not known to this server: upgrade the server "
              "before its peers");
  }
  const auto none = [](const auto&) {
    ADD_FAILURE() << "it is stored";
    return true;
  };
  EXPECT_TRUE(rig_.storage.statuses({}, none).ok());
  EXPECT_TRUE(rig_.storage.agents({}, none).ok());
}

}  // namespace
}  // namespace davit::recorder

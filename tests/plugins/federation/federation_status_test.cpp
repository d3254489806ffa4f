// Federation as it is loaded: what it says to whoever looks, object by object.
#include "looker.hpp"

namespace davit::federation::test {
namespace {

TEST(FederationStatus, CountsWhatIsInStep) {
  World w;
  Looker look(w);
  for (int i = 0; i < 3; ++i) w.cloud.make("a" + std::to_string(i), i);
  w.wait();
  EXPECT_EQ(look.counts(), "in_step 3");
  EXPECT_EQ(look.answer.robot_name(), "r1");
  EXPECT_NE(look.answer.upstream().cluster(), "");
  EXPECT_NE(look.answer.upstream().cluster(), look.answer.downstream().cluster());
  const auto& robots = look.answer.resources(0);
  EXPECT_EQ(robots.resource(), "robots.g");
  EXPECT_TRUE(robots.upstream().complete());
  EXPECT_GE(robots.downstream().age_ms(), 10'000);
  EXPECT_EQ(robots.objects_size(), 0);
  w.cloud.remove("a0");
  w.wait();
  EXPECT_EQ(look.counts(), "in_step 2") << "what is gone is not counted";
}

TEST(FederationStatus, NamesOneObjectAlsoInStep) {
  World w;
  Looker look(w);
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_EQ(look.status("robots.g", "default/a"), "0");
  ASSERT_EQ(look.answer.resources(0).objects_size(), 1);
  EXPECT_EQ(look.answer.resources(0).objects(0).standing(), "in_step");
  EXPECT_EQ(look.status("robots.g", "b"), "0");
  EXPECT_EQ(look.answer.resources(0).objects_size(), 0);
  EXPECT_EQ(look.status("wheels.g"), "5 \"wheels.g\" does not take part");
}

TEST(FederationStatus, WhatFailsIsAheadOrBehindWithItsReasonAndAge) {
  World w;
  Looker look(w);
  w.cloud.make("a", 1);
  w.cloud.make("b", 1);
  w.wait();
  const auto overloaded = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb == DAVIT_VERB_GET) return std::nullopt;
    cluster::Response r;
    r.code = Code::unavailable;
    r.http_status = 503;
    r.message = "too much to do";
    return r;
  };
  w.cloud.front->policy = w.robot.front->policy = overloaded;
  w.cloud.set("a", 2);
  w.cloud.make("c", 1);
  w.robot.report("b", "ready");
  w.wait(2min);
  EXPECT_EQ(look.counts(), "ahead 2, behind 1");
  const auto& oldest = look.answer.resources(0).objects(0);
  EXPECT_GE(oldest.age_ms(), 100'000);
  EXPECT_EQ(oldest.reason(), "503: too much to do");
  EXPECT_EQ(oldest.write(), "update");
  w.cloud.front->policy = w.robot.front->policy = nullptr;
  w.wait(2min);
  EXPECT_EQ(look.counts(), "in_step 3");
}

TEST(FederationStatus, StuckConflictingAndHeldByAFinalizer) {
  World w;
  Looker look(w);
  w.cloud.make("bad", 1);
  w.cloud.make("fought", 1);
  w.cloud.make("held", 1);
  w.wait();
  w.robot.front->policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.body.find("\"x\":666") == std::string::npos) return std::nullopt;
    return refusal(422, "Invalid", "spec.x: must be good");
  };
  w.cloud.set("bad", 666);
  w.robot.edit("held", R"({"metadata":{"finalizers":["a/b"]}})");
  w.cloud.remove("held");
  for (int i = 0; i < 60; ++i) {
    w.robot.set("fought", 9);
    w.wait(1s);
  }
  w.robot.set("fought", 9);
  w.wait(1ms);
  EXPECT_EQ(look.counts(), "conflicting 1, finalizer 1, stuck 1");
  EXPECT_EQ(look.status("", "bad"), "0");
  EXPECT_NE(look.answer.resources(0).objects(0).reason().find("must be good"), std::string::npos);
  EXPECT_EQ(
      w.host().metric("davit_federation_open_objects",
                      {{"resource", "robots.g"}, {"namespace", ""}, {"standing", "conflicting"}}),
      1);
  w.wait(2min);
  w.cloud.set("bad", 1);
  w.robot.edit("held", R"({"metadata":{"finalizers":[]}})");
  w.wait();
  EXPECT_EQ(look.counts(), "in_step 2");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(FederationStatus, WhatASideDoesNotShowIsUnknown) {
  World w;
  Looker look(w);
  w.cloud.make("a", 1);
  w.wait();
  w.cloud.leave();
  w.wait(1min);
  EXPECT_EQ(look.counts(), "unknown 1");
  const auto& robots = look.answer.resources(0);
  EXPECT_FALSE(robots.upstream().complete());
  EXPECT_NE(robots.upstream().reason().find("refused"), std::string::npos);
  EXPECT_GE(robots.counts(0).age_ms(), 60'000);
  EXPECT_FALSE(robots.trouble().empty());
}

TEST(FederationStatus, OthersObjectsAreNotOurs) {
  World w("", true,
          {{"definitions", "none"},
           {"resource", std::vector<testing::Config>{
                            {{"group", "g"}, {"version", "v1"}, {"resource", "robots"}}}}});
  Looker look(w);
  w.robot.make("own", 1);
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_EQ(look.counts(), "in_step 1, not_ours 1");
}

TEST(FederationStatus, ADefinitionThatCannotTakePartIsNamed) {
  World w(R"("cr-syncer.cloudrobotics.com/spec-source":"nowhere")");
  Looker look(w);
  EXPECT_EQ(look.status(), "0");
  ASSERT_EQ(look.answer.faults_size(), 1);
  EXPECT_EQ(look.answer.faults(0).of(), "robots.g");
  EXPECT_EQ(look.status("robots.g"), "0") << "it is known";
}

TEST(FederationStatus, AStatusSubresourceThatIsMissingUpstreamIsSaid) {
  World w;
  Looker look(w);
  w.cloud.front->policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.subresource != "status") return std::nullopt;
    auto r = refusal(404, "NotFound", "the server could not find the requested resource");
    r.code = Code::not_found;
    return r;
  };
  w.cloud.make("a", 1);
  w.wait();
  w.robot.report("a", "ready");
  w.wait(1min);
  EXPECT_EQ(look.counts(), "behind 1");
  EXPECT_NE(w.host().health_reason().find("status subresource"), std::string::npos)
      << w.host().health_reason();
}

TEST(FederationStatus, OnlyOperatorsAsk) {
  World w;
  testing::FakeRpc rpc(w.host().host().service<davit_exec>(DAVIT_EXEC));
  w.stop();
  w.host().add_service(DAVIT_RPC, rpc.table());
  w.start();
  ASSERT_EQ(rpc.paths().size(), 2u);
  for (const std::string& path : rpc.paths()) EXPECT_EQ(rpc.role_of(path), "operator");
}

}  // namespace
}  // namespace davit::federation::test

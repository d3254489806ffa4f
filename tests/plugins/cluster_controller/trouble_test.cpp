// The cluster controller while something is away, hangs, refuses or is full.
#include "world.hpp"

namespace davit::clusters::test {
namespace {

TEST(Trouble, WhileTheApiServerIsNotSeenNothingIsCalled) {
  World w;
  w.make("a");
  w.called();
  w.api.leave();
  w.wait(1h);
  EXPECT_EQ(w.called(), "") << "what has gone meanwhile must not be built anew";
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  w.api.come_back();
  w.wait(11min);
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
  EXPECT_NE(w.called(), "") << "the resync";
}

TEST(Trouble, AnActuatorThatNeverAnswersHoldsOnlyItsCluster) {
  World w({{"workers", 1}, {"call_timeout_ms", 60'000}});
  w.aws.heeds_cancel = false;
  w.aws.does = [](const std::string&, const Call& call) -> std::optional<Outcome> {
    if (call.name == "stuck") return std::nullopt;
    return Outcome();
  };
  w.make("stuck");
  w.make("b");
  EXPECT_EQ(w.called(), "aws: reconcile stuck") << "one worker";
  w.wait(75s);
  EXPECT_EQ(w.called(), "aws: reconcile b");
  EXPECT_NE(w.condition("stuck").find("has not answered in time"), std::string::npos)
      << w.condition("stuck");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  w.wait(30min);
  EXPECT_EQ(w.called().find("stuck"), std::string::npos) << "never two calls for one cluster";
  w.aws.does = nullptr;
  w.aws.answer({});
  w.wait(1000s);
  EXPECT_NE(w.called().find("aws: reconcile stuck"), std::string::npos);
  EXPECT_EQ(w.condition("stuck"), "True Ready: ");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

// The status that says so cannot be written either.
TEST(Trouble, AnActuatorThatNeverAnswersIsNotCalledAgainWhateverTheApiServerDoes) {
  World w({{"call_timeout_ms", 60'000}});
  w.aws.heeds_cancel = false;
  w.aws.does = [](const std::string&, const Call&) { return std::optional<Outcome>(); };
  w.make("stuck");
  w.refuse(Code::internal, 500, "fault",
           [](const cluster::Request& q) { return q.subresource == "status"; });
  w.wait(1h);
  EXPECT_EQ(w.called(), "aws: reconcile stuck");
  w.refuse_nothing();
  w.api.edit("stuck", R"({"metadata":{"finalizers":null}})");
  w.remove("stuck");
  w.wait(1h);
  EXPECT_EQ(w.called(), "") << "it is gone, and the call is still open";
  w.aws.answer({});
  w.wait(1000s);
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(Trouble, WhatAnActuatorSaysBecomesAStatusWhateverItIs) {
  World w;
  w.aws.does = [](const std::string&, const Call& call) {
    call.event({true, "Odd\xff", std::string(100'000, 'x')});
    return later(1h, "half a character: \xc3" + std::string(100'000, 'y'));
  };
  w.make("a");
  const std::string said = w.condition("a");
  EXPECT_TRUE(said.starts_with("False Building: half a character: ?yyy")) << said.substr(0, 100);
  EXPECT_LT(said.size(), 5'000u);
  EXPECT_TRUE(w.events().starts_with("Warning Odd?: xxx")) << w.events().substr(0, 100);
  EXPECT_LT(w.events().size(), 1'100u);
}

TEST(Trouble, AStopEndsTheCallsThatAreOpen) {
  World w;
  w.aws.does = [](const std::string&, const Call&) { return std::optional<Outcome>(); };
  w.make("a");
  w.stop();
  EXPECT_EQ(w.aws.open(), 0u);
  w.aws.does = nullptr;
  w.start();
  w.wait();
  EXPECT_EQ(w.condition("a"), "True Ready: ");
}

TEST(Trouble, AStatusThatTheApiServerRefusesIsSaidWithoutIt) {
  World w;
  w.aws.does = [](const std::string&, const Call&) {
    return saying(R"({"apiEndpoints":"nonsense","providerStatus":{"x":1}})");
  };
  w.refuse(Code::invalid_argument, 422, "status.apiEndpoints: must be of type array",
           [](const cluster::Request& q) { return q.body.find("nonsense") != std::string::npos; });
  w.make("a");
  EXPECT_EQ(w.condition("a"),
            "False Failed: the API server refuses what the actuator says of the status: "
            "status.apiEndpoints: must be of type array");
  EXPECT_EQ(w.api.at("a", "/status/providerStatus"), "");
}

TEST(Trouble, AnAnswerThatIsNoObjectIsAFailure) {
  World w;
  w.aws.does = [](const std::string&, const Call&) { return saying("[1,2"); };
  w.make("a");
  EXPECT_NE(w.condition("a").find("status_patch is not a JSON object"), std::string::npos);
}

TEST(Trouble, AStatusIsWrittenOverAConflict) {
  World w;
  w.aws.does = [&, n = 0](const std::string&, const Call&) mutable {
    if (++n == 1) w.api.edit("a", R"({"spec":{"changed":true}})");
    return saying(R"({"providerStatus":{"n":)" + std::to_string(n) + "}}");
  };
  w.make("a");
  w.wait(10s);
  EXPECT_EQ(w.called(), "aws: reconcile a, aws: reconcile a") << "the change is seen, too";
  EXPECT_EQ(w.api.at("a", "/status/providerStatus/n"), "2");
  EXPECT_EQ(w.api.at("a", "/status/observedGeneration"), w.api.at("a", "/metadata/generation"));
}

TEST(Trouble, AClusterWithAFinalizerThatCannotBeWrittenIsTriedAgain) {
  World w;
  w.refuse(Code::permission_denied, 403, "not allowed",
           [](const cluster::Request& q) { return q.verb == DAVIT_VERB_MERGE; });
  w.make("a");
  w.wait(10s);
  EXPECT_EQ(w.called(), "") << "nothing is built before the finalizer is stored";
  w.refuse_nothing();
  w.wait(1min);
  EXPECT_EQ(w.called(), "aws: reconcile a");
}

TEST(Trouble, OneThatStandsByCallsNobody) {
  World w({}, true);
  w.make("a");
  w.wait(1h);
  EXPECT_EQ(w.called(), "");
  EXPECT_EQ(w.api.at("a", "/metadata/finalizers"), "");
  w.gate->open(Epoch(7));
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile a");
}

TEST(Trouble, AGateThatNeverOpensLetsItStop) {
  World w({}, true);
  w.make("a");
  w.stop();
  w.gate->open(Epoch(0));
  w.wait();
  EXPECT_EQ(w.called(), "");
}

TEST(Trouble, ManyThatFailShareTheRetries) {
  World w({{"retries_per_second", 10}, {"retries_burst", 100}});
  w.aws.does = [](const std::string&, const Call&) {
    return failure(Code::unavailable, "the cloud is away");
  };
  for (int i = 0; i < 200; ++i) {
    w.api.make(R"({"apiVersion":"cluster.k8s.io/v1alpha1","kind":"Cluster","metadata":{"name":"c)" +
               std::to_string(i) + R"("},"spec":{}})");
  }
  w.wait(1s);
  w.called();
  w.wait(100s);
  EXPECT_LE(w.calls.size(), 1'300u) << "ten a second, and the burst";
  EXPECT_GE(w.calls.size(), 500u);
}

}  // namespace
}  // namespace davit::clusters::test

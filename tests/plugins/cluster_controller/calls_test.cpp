// Which calls an actuator gets, and what its answers lead to: the tables of the reference's
// sections 3 and 4 for a Cluster that is to exist.
#include "world.hpp"

namespace davit::clusters::test {
namespace {

TEST(Calls, AreMadeWhenTheFinalizerIsStored) {
  World w;
  w.aws.does = [&](const std::string&, const Call&) {
    EXPECT_EQ(w.api.at("a", "/metadata/finalizers"), R"(["x/y","cluster.cluster.k8s.io"])");
    EXPECT_EQ(w.api.at("a", "/status/actuator"), "aws") << "whoever begins it goes on with it";
    return Outcome();
  };
  w.make("a", "{}", R"("finalizers":["x/y"])");
  EXPECT_EQ(w.called(), "aws: reconcile a");
  EXPECT_EQ(w.condition("a"), "True Ready: ");
  EXPECT_EQ(w.api.at("a", "/status/observedGeneration"), w.api.at("a", "/metadata/generation"));
  w.wait(5min);
  EXPECT_EQ(w.called(), "") << "the controller's own writes are no news";
}

TEST(Calls, CarryTheWholeCluster) {
  World w;
  w.make("a", R"({"value":{"apiVersion":"aws.example/v1","big":9007199254740993,"x":{"y":[1.5]}}})",
         R"("labels":{"l":"v"})");
  const json::value cluster = json::parse(w.aws.last.cluster);
  EXPECT_EQ(cluster.at_pointer("/spec/providerSpec/value/big"), 9007199254740993);
  EXPECT_EQ(cluster.at_pointer("/spec/providerSpec/value/x/y/0"), 1.5);
  EXPECT_EQ(cluster.at_pointer("/metadata/labels/l"), "v");
  EXPECT_EQ(w.aws.last.uid, w.api.uid("a"));
  EXPECT_EQ(w.aws.last.ns, "default");
}

TEST(Calls, FollowAChangeOfTheSpecAndOfMetadataAndTheResync) {
  World w;
  w.make("a");
  w.called();
  w.api.edit("a", R"({"spec":{"x":1}})");
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile a");
  w.api.edit("a", R"({"metadata":{"annotations":{"n":"1"}}})");
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile a") << "there is no filter of events";
  w.wait(10min);
  EXPECT_EQ(w.called(), "aws: reconcile a") << "the resync";
}

TEST(Calls, AStatusOfSomebodyElseIsNews) {
  World w;
  w.make("a");
  w.called();
  w.api.edit("a", R"({"status":{"providerStatus":{"by":"hand"}}})", "status");
  w.wait(5s);
  EXPECT_EQ(w.called(), "aws: reconcile a");
  w.wait(1min);
  EXPECT_EQ(w.called(), "");
}

TEST(Calls, AnActuatorThatWritesTheTimeOnEachCallDoesNotRunInALoop) {
  World w;
  int n = 0;
  w.aws.does = [&](const std::string&, const Call&) {
    return saying(R"({"providerStatus":{"now":)" + std::to_string(++n) + "}}");
  };
  w.make("a");
  w.wait(5min);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(w.api.at("a", "/status/providerStatus/now"), "1");
}

TEST(Calls, OneThatGoesOnIsMadeAgainAfterItsDelay) {
  World w;
  int n = 0;
  w.aws.does = [&](const std::string&, const Call&) {
    return ++n < 3 ? later(30s, "machine " + std::to_string(n) + " of 2") : Outcome();
  };
  w.make("a");
  EXPECT_EQ(w.condition("a"), "False Building: machine 1 of 2");
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "") << "it is no error";
  w.wait(28s);
  EXPECT_EQ(n, 1);
  w.wait(2s);
  EXPECT_EQ(n, 2);
  EXPECT_EQ(w.condition("a"), "False Building: machine 2 of 2");
  w.wait(31s);
  EXPECT_EQ(w.condition("a"), "True Ready: ");
  EXPECT_EQ(w.events(), "");
}

TEST(Calls, AnEventComesBeforeTheDelayAndTheDelayStillComes) {
  World w;
  w.aws.does = [&, n = 0](const std::string&, const Call&) mutable {
    return ++n == 1 ? later(30s) : Outcome();
  };
  w.make("a");
  w.called();
  w.wait(10s);
  w.api.edit("a", R"({"spec":{"x":1}})");
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile a");
  w.wait(30s);
  EXPECT_EQ(w.called(), "aws: reconcile a");
}

TEST(Calls, AFailureIsWrittenAndRetriedWithABackOff) {
  World w;
  w.aws.does = [](const std::string&, const Call&) {
    return failure(Code::resource_exhausted, "no quota", "spec.providerSpec.value.size");
  };
  w.make("a");
  EXPECT_EQ(w.condition("a"), "False Failed: spec.providerSpec.value.size: no quota");
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "CreateError");
  EXPECT_EQ(w.api.at("a", "/status/errorMessage"), "spec.providerSpec.value.size: no quota");
  EXPECT_EQ(w.api.at("a", "/status/observedGeneration"), "");
  EXPECT_TRUE(
      w.events().starts_with("Warning CreateError: spec.providerSpec.value.size: no quota ("))
      << w.events();
  w.wait(1min);
  const size_t tries = w.calls.size();
  EXPECT_GE(tries, 10u) << "5 ms, 10 ms, 20 ms...";
  EXPECT_LE(tries, 20u);
  w.aws.does = nullptr;
  w.api.edit("a", R"({"spec":{"fixed":true}})");
  w.wait();
  EXPECT_EQ(w.condition("a"), "True Ready: ") << "a change ends the rest";
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "");
  EXPECT_EQ(w.api.at("a", "/status/errorMessage"), "");
}

TEST(Calls, AnUpdateThatFailsSaysSo) {
  World w;
  w.make("a");
  w.aws.does = [](const std::string&, const Call&) {
    Outcome out = failure(Code::unavailable, "the cloud is away");
    out.error->retry_after = 40s;
    return out;
  };
  w.called();
  w.api.edit("a", R"({"spec":{"x":1}})");
  w.wait(30s);
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "UpdateError");
  EXPECT_EQ(w.called(), "aws: reconcile a") << "the delay that it asked for is kept";
  w.wait(20s);
  EXPECT_EQ(w.called(), "aws: reconcile a");
}

TEST(Calls, TheActuatorsOwnReasonCounts) {
  World w;
  w.aws.does = [](const std::string&, const Call&) {
    Outcome out = failure(Code::internal, "cannot shrink");
    out.error_reason = "UnsupportedChange";
    out.status_patch = R"({"providerStatus":{"step":4}})";
    return out;
  };
  w.make("a");
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "UnsupportedChange");
  EXPECT_EQ(w.api.at("a", "/status/providerStatus/step"), "4") << "also beside an error";
}

TEST(Calls, OfSeveralClustersOverlapAndOfOneDoNot) {
  World w;
  w.aws.does = [](const std::string&, const Call& call) -> std::optional<Outcome> {
    if (call.name == "slow") return std::nullopt;
    return Outcome();
  };
  w.make("slow");
  w.make("b");
  w.make("c");
  w.api.edit("slow", R"({"spec":{"x":1}})");
  w.wait(10s);
  EXPECT_EQ(w.called(), "aws: reconcile slow, aws: reconcile b, aws: reconcile c");
  w.aws.does = nullptr;
  w.aws.answer({});
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile slow") << "what changed meanwhile is looked at once more";
}

TEST(Calls, GoToTheProviderOfTheGroupThenToTheAddons) {
  World w({{"provider", std::vector<testing::Config>{table("aws", {"aws.example"}),
                                                     table("gcp", {"gcp.example"})}},
           {"addons", {"addon"}}});
  w.gcp.does = [n = 0](const std::string&, const Call&) mutable {
    return ++n == 1 ? later(10s) : saying(R"({"apiEndpoints":[{"host":"10.0.0.1","port":6443}]})");
  };
  w.make("a", R"({"value":{"apiVersion":"gcp.example/v1"}})");
  EXPECT_EQ(w.called(), "gcp: reconcile a") << "addons wait until the provider is done";
  w.wait(10s);
  EXPECT_EQ(w.called(), "gcp: reconcile a, addon: reconcile a");
  EXPECT_EQ(json::parse(w.addon.last.cluster).at_pointer("/status/apiEndpoints/0/host"), "10.0.0.1")
      << "an addon sees what the provider has said";
  w.remove("a");
  EXPECT_EQ(w.called(), "addon: remove a, gcp: remove a");
  EXPECT_TRUE(w.api.get("a").is_null());
}

TEST(Calls, EventsOfTheActuatorAreEventsAtTheCluster) {
  World w;
  w.aws.does = [](const std::string&, const Call& call) {
    call.event({false, "LoadBalancerCreated", "lb-17 is there"});
    call.event({true, "Slow", "it takes longer"});
    return Outcome();
  };
  w.make("a");
  w.api.edit("a", R"({"spec":{"x":1}})");
  w.wait();
  EXPECT_EQ(w.events(),
            "Normal LoadBalancerCreated: lb-17 is there (2)\nWarning Slow: it takes longer (2)\n");
}

TEST(Calls, AFloodOfEventsIsBounded) {
  World w;
  w.aws.does = [](const std::string&, const Call& call) {
    for (int i = 0; i < 1'000; ++i) call.event({false, "Step", std::to_string(i)});
    return Outcome();
  };
  w.make("a");
  const std::string events = w.events();
  EXPECT_LE(std::count(events.begin(), events.end(), '\n'), 26);
}

TEST(Calls, APausedClusterIsLeftAlone) {
  World w;
  w.make("a", "{}", R"("annotations":{"cluster.x-k8s.io/paused":""})");
  EXPECT_EQ(w.called(), "");
  EXPECT_EQ(w.condition("a", "Paused"),
            "True Annotated: the annotation cluster.x-k8s.io/paused is set");
  w.api.edit("a", R"({"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}})");
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile a");
  EXPECT_EQ(w.condition("a", "Paused"), "False NotAnnotated: ");
}

}  // namespace
}  // namespace davit::clusters::test

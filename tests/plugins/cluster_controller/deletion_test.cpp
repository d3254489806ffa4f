// A Cluster that goes: the reference's sections 3.1 and 4, and what people and other controllers do
// meanwhile.
#include "world.hpp"

namespace davit::clusters::test {
namespace {

TEST(Deletion, CallsRemoveAndTakesTheFinalizerOff) {
  World w;
  w.make("a");
  w.called();
  w.remove("a");
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_TRUE(w.api.get("a").is_null());
  w.wait(1h);
  EXPECT_EQ(w.called(), "");
}

TEST(Deletion, WaitsForRemoveAndSaysWhyAndHowToForceIt) {
  World w;
  w.make("a");
  w.aws.does = [](const std::string&, const Call&) {
    return failure(Code::unavailable, "two disks are attached");
  };
  w.remove("a");
  w.wait(1min);
  EXPECT_EQ(w.api.at("a", "/metadata/finalizers"), R"(["cluster.cluster.k8s.io"])");
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "DeleteError");
  const std::string said = w.condition("a", "Deleting");
  EXPECT_TRUE(said.starts_with("True Failed: two disks are attached. To give it up")) << said;
  EXPECT_NE(said.find("kubectl -n default patch clusters.cluster.k8s.io a"), said.npos);
  w.aws.does = nullptr;
  w.wait(1000s);
  EXPECT_TRUE(w.api.get("a").is_null());
}

TEST(Deletion, ThatGoesOnIsAskedForAgainAfterItsDelay) {
  World w;
  w.make("a");
  w.aws.does = [n = 0](const std::string&, const Call&) mutable {
    return ++n == 1 ? later(20s, "the load balancer drains") : Outcome();
  };
  w.called();
  w.remove("a");
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_EQ(w.condition("a", "Deleting"), "True Deleting: the load balancer drains");
  EXPECT_EQ(w.api.at("a", "/status/errorReason"), "");
  w.wait(18s);
  EXPECT_EQ(w.called(), "");
  w.wait(2s);
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_TRUE(w.api.get("a").is_null());
}

TEST(Deletion, OfWhatHasNoFinalizerOfOursCallsNobody) {
  World w;
  w.make("a", "{}", R"("finalizers":["x/y"])");
  w.called();
  w.aws.does = [](const std::string&, const Call&) {
    return failure(Code::unavailable, "not now");
  };
  w.remove("a");
  EXPECT_NE(w.called(), "");
  w.api.edit("a", R"({"metadata":{"finalizers":["x/y"]}})");
  w.wait();
  w.called();
  w.wait(1h);
  EXPECT_EQ(w.called(), "") << "somebody has forced it; whatever finalizers of others remain";
}

TEST(Deletion, KeepsTheFinalizersOfOthers) {
  World w;
  w.make("a", "{}", R"("finalizers":["x/y"])");
  w.called();
  w.remove("a");
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_EQ(w.api.at("a", "/metadata/finalizers"), R"(["x/y"])");
  w.wait(1h);
  EXPECT_EQ(w.called(), "") << "once";
}

// A finalizer of somebody else may keep the Cluster, and its status is looked at.
TEST(Deletion, WritesWhatRemoveSaysOfTheStatus) {
  World w;
  w.make("a", "{}", R"("finalizers":["x/y"])");
  w.aws.does = [](const std::string&, const Call&) {
    return saying(R"({"apiEndpoints":null,"providerStatus":{"gone":true}})");
  };
  w.remove("a");
  EXPECT_EQ(w.api.at("a", "/metadata/finalizers"), R"(["x/y"])");
  EXPECT_EQ(w.api.at("a", "/status/providerStatus/gone"), "true");
}

TEST(Deletion, CancelsTheReconcileThatIsOpen) {
  World w;
  w.aws.does = [](const std::string& operation, const Call&) -> std::optional<Outcome> {
    if (operation == "reconcile") return std::nullopt;
    return Outcome();
  };
  w.make("a");
  w.remove("a");
  EXPECT_EQ(w.called(), "aws: reconcile a") << "never two calls for one cluster";
  w.aws.let_go();
  w.wait();
  EXPECT_EQ(w.called(), "aws: remove a");
  EXPECT_TRUE(w.api.get("a").is_null());
  EXPECT_EQ(w.events(), "") << "no failure";
}

TEST(Deletion, ANameThatIsUsedAgainIsAnotherCluster) {
  World w;
  w.make("a");
  const std::string first = w.aws.last.uid;
  w.called();
  w.stop();
  w.api.edit("a", R"({"metadata":{"finalizers":null}})");
  w.api.remove("a");
  w.make("a");
  w.start();
  w.wait();
  EXPECT_EQ(w.called(), "aws: reconcile a");
  EXPECT_NE(w.aws.last.uid, first);
}

TEST(Deletion, AConflictOfTheFinalizerCallsRemoveAgainOrTriesAgain) {
  for (const int retries : {0, 5}) {
    World w({{"conflict_retries", retries}});
    w.make("a");
    w.called();
    w.aws.does = [&, n = 0](const std::string&, const Call&) mutable {
      // Somebody changes the Cluster while it is being removed.
      if (++n == 1) w.api.edit("a", R"({"metadata":{"annotations":{"by":"somebody"}}})");
      return Outcome();
    };
    w.remove("a");
    w.wait(10s);
    EXPECT_TRUE(w.api.get("a").is_null());
    EXPECT_EQ(w.called(), retries == 0 ? "aws: remove a, aws: remove a" : "aws: remove a");
  }
}

TEST(Deletion, OfAClusterThatNobodyCouldBuildIsEasy) {
  World w({{"provider", std::vector<testing::Config>{table("aws", {"aws.example"}),
                                                     table("gcp", {"gcp.example"})}}});
  w.make("typo", R"({"value":{"apiVersion":"aws.exmaple/v1"}})");
  EXPECT_EQ(w.called(), "");
  EXPECT_EQ(w.api.at("typo", "/status/errorReason"), "InvalidConfiguration");
  w.remove("typo");
  EXPECT_TRUE(w.api.get("typo").is_null());
  EXPECT_EQ(w.called(), "aws: remove typo, gcp: remove typo") << "neither has anything of it";
}

TEST(Deletion, WithoutItsActuatorKeepsTheFinalizer) {
  World w({{"provider", std::vector<testing::Config>{table("gcp")}}});
  w.make("a");
  w.api.edit("a", R"({"status":{"actuator":"aws"}})", "status");
  w.called();
  w.remove("a");
  w.wait(1min);
  EXPECT_EQ(w.called(), "");
  EXPECT_FALSE(w.api.get("a").is_null());
  EXPECT_NE(w.condition("a", "Deleting").find("configure it again"), std::string::npos);
}

TEST(Deletion, OfAPausedClusterWaits) {
  World w;
  w.make("a");
  w.api.edit("a", R"({"metadata":{"annotations":{"cluster.x-k8s.io/paused":"true"}}})");
  w.called();
  w.remove("a");
  w.wait(1h);
  EXPECT_EQ(w.called(), "");
  w.api.edit("a", R"({"metadata":{"annotations":null}})");
  w.wait();
  EXPECT_EQ(w.called(), "aws: remove a");
}

}  // namespace
}  // namespace davit::clusters::test

// What the applier tries again, and when; whom it tells that somebody works against it.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

// As the authorizer of an API server refuses a verb of a resource.
Front::Policy no_right(const std::string& verb, const std::string& resource) {
  return [=](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != verb || q.resource.resource != resource) return std::nullopt;
    return refusal(403, "Forbidden",
                   resource + " is forbidden: User \"davit\" cannot " + verb + " resource \"" +
                       resource + "\" in API group \"\" at the cluster scope");
  };
}

Front::Policy refuses_replica_sets(const std::string& message) {
  return [=](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != DAVIT_VERB_APPLY) return std::nullopt;
    return refusal(403, "Forbidden", "replicasets.apps \"web\" is forbidden: " + message);
  };
}

void make_namespace(World& w) {
  w.call(DAVIT_VERB_CREATE, "namespaces", "", "",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
}

TEST(Namespace, OneThatExistsNeedsNoRightToCreateIt) {
  World w;
  make_namespace(w);
  w.front().policy = no_right(DAVIT_VERB_CREATE, "namespaces");
  w.begin(true);
  for (uint64_t n = 1; n <= 30; ++n) w.apply("web" + std::to_string(n), Version(n));
  w.end(30, 30);
  w.wait();
  for (uint64_t n = 1; n <= 30; ++n) EXPECT_EQ(w.outcome(Version(n)), "done") << n;
  EXPECT_EQ(w.front().sent["create namespaces"], 0u);
}

TEST(Namespace, ThatMayNotBeLookedAtIsNoObstacle) {
  World w;
  make_namespace(w);
  w.front().policy = [](const cluster::Request& q) {
    auto refused = no_right(DAVIT_VERB_GET, "namespaces")(q);
    return refused ? refused : no_right(DAVIT_VERB_CREATE, "namespaces")(q);
  };
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  EXPECT_EQ(w.outcome(10), "done");
}

TEST(Namespace, OneThatIsMissingAndMayNotBeCreatedParksAndNamesTheRight) {
  World w;
  w.front().policy = no_right(DAVIT_VERB_CREATE, "namespaces");
  w.begin(true);
  w.apply("web", 10);
  w.wait(30s);
  EXPECT_EQ(w.outcome(10), "") << "an API server that starts says so, too";
  w.wait(40s);
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "the right to create namespaces")) << w.reasons["web"];
  EXPECT_TRUE(contains(w.reasons["web"], "namespaces acme")) << w.reasons["web"];
  w.front().policy = nullptr;
  w.wait(6min);
  EXPECT_EQ(w.replica_sets(), "web");
}

TEST(Refused, ARightThatComesWithinAMinuteParksNothing) {
  World w;
  w.front().policy = no_right(DAVIT_VERB_APPLY, "replicasets");
  w.begin(true);
  w.apply("web", 10);
  w.wait(50s);
  EXPECT_EQ(w.outcome(10), "");
  const size_t tries = w.front().sent["apply replicasets"];
  EXPECT_GE(tries, 4u);
  EXPECT_LE(tries, 20u);
  w.front().policy = nullptr;
  w.wait(11s);
  EXPECT_EQ(w.outcome(10), "done");
}

TEST(Refused, ARightThatStaysAwayParks) {
  World w;
  w.front().policy = no_right(DAVIT_VERB_APPLY, "replicasets");
  w.begin(true);
  w.apply("web", 10);
  w.wait(61s);
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "cannot apply resource")) << w.reasons["web"];
}

TEST(Refused, WhatIsTerminatingIsWaitedFor) {
  World w;
  w.front().policy =
      refuses_replica_sets("create not allowed while custom resource definition is terminating");
  w.begin(true);
  w.apply("web", 10);
  w.wait(5min);
  EXPECT_EQ(w.outcome(10), "");
  EXPECT_FALSE(w.issues.contains("web"));
  w.front().policy = nullptr;
  w.wait(30s);
  EXPECT_EQ(w.outcome(10), "done");
}

TEST(Parked, IsTriedAgainWhenTheWatchOfItsObjectWorksAgain) {
  World w;
  w.front().policy = refuses_replica_sets("a webhook says no");
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  ASSERT_EQ(w.outcome(10), "parked");
  w.front().policy = nullptr;
  w.front().trouble();
  w.wait(10s);
  EXPECT_EQ(w.issues["web"], "parked");
  w.stranger("sign-of-life", R"({"app.kubernetes.io/managed-by":"krane",
      "app.kubernetes.io/component":"deployment"})");
  w.wait();
  EXPECT_FALSE(w.issues.contains("web"));
  EXPECT_EQ(w.replicas("web"), 1);
}

TEST(Parked, IsTriedAgainWhenItsTimeHasCome) {
  World w;
  w.front().policy = refuses_replica_sets("a webhook says no");
  w.begin(true);
  w.wait(30s);
  w.apply("web", 10);
  w.wait(4min);
  ASSERT_EQ(w.outcome(10), "parked");
  w.front().policy = nullptr;
  w.wait(61s);
  EXPECT_EQ(w.replicas("web"), 1) << "not only at the next resync";
}

TEST(Parked, WhatCannotBeReadIsTriedAgainWhenItsTimeHasComeAndNotMoreOften) {
  World w({{"resync_interval_ms", 3'600'000}});
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.garbage("web", 11);
  w.wait();
  ASSERT_EQ(w.outcome(11), "parked");
  const double before = w.count("reconciliations");
  w.wait(30min);
  EXPECT_GE(w.count("reconciliations") - before, 6) << "every five minutes";
  EXPECT_LE(w.count("reconciliations") - before, 14) << "and each time one more look soon after";
  EXPECT_EQ(w.issues["web"], "parked");
}

TEST(Parked, AStatusOfItsObjectIsNoReasonToTryAgain) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.front().policy = refuses_replica_sets("a webhook says no");
  w.apply("web", 11, {.image = "nginx:2"});
  w.wait();
  const size_t before = w.front().sent["apply replicasets"];
  for (int i = 0; i < 20; ++i) {
    w.call(DAVIT_VERB_DELETE, "pods", "acme",
           std::string(json::parse(w.call(DAVIT_VERB_GET, "pods", "acme", "", "").body)
                           .at_pointer("/items/0/metadata/name")
                           .as_string()),
           "");
    w.wait(5s);
  }
  EXPECT_LE(w.front().sent["apply replicasets"], before + 1);
}

TEST(Parked, WhoKeepsChangingItsObjectDoesNotMakeUsTryAllTheTime) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.front().policy = refuses_replica_sets("a webhook says no");
  w.apply("web", 11, {.image = "nginx:2"});
  w.wait();
  const size_t before = w.front().sent["apply replicasets"];
  for (int i = 0; i < 200; ++i) {
    w.edit("web", R"({"metadata":{"labels":{"n":")" + std::to_string(i) + R"("}}})");
    w.wait(100ms);
  }
  EXPECT_GE(w.front().sent["apply replicasets"], before + 3);
  EXPECT_LE(w.front().sent["apply replicasets"], before + 12) << "in twenty seconds";
  w.front().policy = nullptr;
  w.edit("web", R"({"metadata":{"labels":{"n":"last"}}})");
  w.wait(1min);
  EXPECT_FALSE(w.issues.contains("web")) << "it has waited long enough";
}

// --- drift

TEST(Drift, WhoKeepsChangingAnObjectIsNamedAndNotFought) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const double before = w.count("applies");
  for (int i = 0; i < 200; ++i) {
    w.edit("web", R"({"spec":{"replicas":9}})", "kubectl");
    w.wait(100ms);
  }
  EXPECT_LE(w.count("applies") - before, 12) << "in twenty seconds";
  EXPECT_GE(w.count("repairs"), 5);
  EXPECT_EQ(w.issues["web"], "contested");
  EXPECT_TRUE(contains(w.reasons["web"], "\"kubectl\"")) << w.reasons["web"];
  EXPECT_TRUE(w.host().logged("warn: record is contested"));
  w.wait(1min);
  EXPECT_EQ(w.replicas("web"), 2) << "it is put right in the end";
  w.wait(10min);
  EXPECT_FALSE(w.issues.contains("web"));
  w.edit("web", R"({"spec":{"replicas":9}})");
  w.wait(200ms);
  EXPECT_EQ(w.replicas("web"), 2) << "all is forgotten";
}

TEST(Drift, WhoKeepsDeletingAnObjectIsNotFoughtEither) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const double before = w.count("applies");
  for (int i = 0; i < 200; ++i) {
    w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "web", "");
    w.wait(100ms);
  }
  EXPECT_LE(w.count("applies") - before, 12);
  w.wait(2min);
  EXPECT_EQ(w.replicas("web"), 2);
}

// Which has other settings, for instance: neither knows of the other.
TEST(Drift, ASecondAgentIsSuspected) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const double before = w.count("applies");
  for (int i = 0; i < 200; ++i) {
    w.edit("web", R"({"spec":{"minReadySeconds":7}})", "krane");
    w.wait(100ms);
  }
  EXPECT_LE(w.count("applies") - before, 12);
  EXPECT_EQ(w.issues["web"], "contested");
  EXPECT_TRUE(contains(w.reasons["web"], "a second agent?")) << w.reasons["web"];
}

TEST(Drift, AChangeDoesNotWaitForIt) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  for (int i = 0; i < 100; ++i) {
    w.edit("web", R"({"spec":{"replicas":9}})");
    w.wait(100ms);
  }
  w.apply("web", 11, {3});
  w.wait(200ms);
  EXPECT_EQ(w.replicas("web"), 3);
  EXPECT_EQ(w.outcome(11), "done");
}

}  // namespace
}  // namespace davit::applier::test

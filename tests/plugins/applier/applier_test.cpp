// The applier against a simulated cluster: what the world looks like in the end, not which calls
// were made.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

TEST(Applier, MakesWhatIsWantedAndReportsIt) {
  World w;
  w.begin(true);
  w.apply("web", 10, {3});
  w.apply("api", 11, {.replicas = 1, .ns = "other"});
  w.end(2, 11);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "api web");
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_EQ(w.outcome(11), "done");
  const Status& s = w.statuses["d_web"];
  EXPECT_EQ(s.observed_version, Version(10));
  EXPECT_EQ(s.desired, 3);
  EXPECT_EQ(s.updated, 3);
  EXPECT_EQ(s.ready, 3);
  EXPECT_EQ(s.health, "healthy");
  EXPECT_EQ(s.ns + "/" + s.name, "acme/web");
  EXPECT_EQ(s.children.size(), 3u);
}

TEST(Applier, StampsWhatItOwns) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const json::value rs = w.replica_set("web");
  EXPECT_EQ(rs.at_pointer("/metadata/labels/davit.dev~1region"), "eu");
  EXPECT_EQ(rs.at_pointer("/metadata/labels/davit.dev~1kind"), "deployment");
  EXPECT_EQ(rs.at_pointer("/metadata/annotations/davit.dev~1id"), "d_web");
  EXPECT_EQ(rs.at_pointer("/metadata/annotations/davit.dev~1version"), "10");
  const auto ns = json::parse(w.call(DAVIT_VERB_GET, "namespaces", "", "acme", "").body);
  const auto* labels = ns.at("metadata").as_object().if_contains("labels");
  EXPECT_TRUE(labels == nullptr || !labels->as_object().contains("davit.dev/region"))
      << "a namespace is never owned";
}

TEST(Applier, OwnsByReferencesThatNeedNoRightToFinalizers) {
  World w;
  w.begin(true);
  w.apply("web", 10, {.autoscaling = true});
  w.wait();
  const auto scaler = w.call(DAVIT_VERB_GET, "horizontalpodautoscalers", "acme", "web", "");
  ASSERT_EQ(scaler.code, Code::ok) << scaler.message;
  const json::value owner = json::parse(scaler.body).at_pointer("/metadata/ownerReferences/0");
  EXPECT_EQ(owner.at("uid").as_string(), w.uid("web"));
  EXPECT_EQ(owner.at("controller"), true);
  EXPECT_FALSE(owner.as_object().contains("blockOwnerDeletion")) << owner;
}

TEST(Applier, FollowsChangesAndDeletes) {
  World w;
  w.begin(false);
  w.apply("web", 10, {1});
  w.wait();
  w.apply("web", 11, {4});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 4);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(11));
  w.remove("web", 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_EQ(w.outcome(12), "done");
  EXPECT_TRUE(w.statuses["d_web"].gone);
}

TEST(Applier, DeletesByNameForPeersThatKnowNoIds) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.remove("web", 12, false);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_TRUE(w.statuses["d_web"].gone) << "it remembers the id";
}

TEST(Applier, DeletesWhatAnEarlierProcessMade) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.restart();
  w.begin(true);
  w.remove("web", 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_EQ(w.outcome(12), "done");
}

TEST(Applier, SendsNothingWhenNothingDiffers) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const double before = w.count("applies");
  EXPECT_EQ(before, 1) << "one apply for one ReplicaSet";
  w.wait(10min);
  EXPECT_EQ(w.count("applies"), before) << "resyncs find everything as it should be";
  w.begin(true);
  w.apply("web", 10, {2});
  w.apply("web", 20, {2});
  w.end(1, 20);
  w.wait();
  EXPECT_EQ(w.count("applies"), before) << "a new version that renders the same needs no call";
  EXPECT_EQ(w.outcome(20), "done");
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(20));
}

TEST(Applier, AppliesAtMostOnceAfterARestart) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const double before = w.count("applies");
  w.restart();
  w.begin(true);
  w.apply("web", 10, {2});
  w.end(1, 10);
  w.wait(10min);
  EXPECT_EQ(w.count("applies"), before) << "the hash on the object and its content agree";
  EXPECT_EQ(w.statuses["d_web"].ready, 2);
}

TEST(Applier, RepairsWhatWasEditedBehindItsBack) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const auto edited =
      w.call(DAVIT_VERB_MERGE, "replicasets", "acme", "web", R"({"spec":{"replicas":7}})");
  ASSERT_NE(edited.body.find(R"("replicas":7)"), std::string::npos);
  w.wait(200ms);
  EXPECT_EQ(w.replicas("web"), 2) << "seen by the watch, not by the resync";
  EXPECT_EQ(w.count("repairs"), 1);
}

TEST(Applier, RestoresALabelThatWasTakenAway) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  // Without it the object leaves the watch: it looks deleted.
  w.call(DAVIT_VERB_MERGE, "replicasets", "acme", "web",
         R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}})");
  w.wait(200ms);
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/labels/app.kubernetes.io~1managed-by"),
            "krane");
}

TEST(Applier, LeavesAloneWhatOthersAdd) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.call(DAVIT_VERB_MERGE, "replicasets", "acme", "web",
         R"({"metadata":{"annotations":{"team":"a"}}})");
  const double before = w.count("applies");
  w.wait(5min);
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/annotations/team"), "a");
  EXPECT_EQ(w.count("applies"), before);
}

TEST(Applier, MakesAgainWhatWasDeletedBehindItsBack) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const auto uid = w.replica_set("web").at_pointer("/metadata/uid");
  w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "web", "");
  w.wait(200ms);
  ASSERT_FALSE(w.replica_set("web").is_null());
  EXPECT_NE(w.replica_set("web").at_pointer("/metadata/uid"), uid);
}

TEST(Applier, MakesTheNamespaceAgain) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.call(DAVIT_VERB_DELETE, "namespaces", "", "acme", "");
  w.wait(2min);
  EXPECT_FALSE(w.replica_set("web").is_null());
}

TEST(Applier, RemembersNoNamespaceLongerThanItsRecords) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.apply("stays", 11, {.ns = "shop"});
  w.end(2, 11);
  w.wait();
  const auto looked = [&] { return w.front().sent["get namespaces"]; };
  const size_t before = looked();
  w.remove("web", 12);
  w.wait(10min);
  EXPECT_EQ(looked(), before) << "what lives is not looked for again";
  w.apply("web", 13);
  w.wait();
  EXPECT_EQ(looked(), before + 1);
  EXPECT_FALSE(w.replica_set("web").is_null());
}

TEST(Applier, ParksWhatCanNeverSucceedAndGoesOn) {
  World w;
  w.begin(true);
  w.garbage("bad", 10);
  w.apply("worse", 11, {.replicas = 1, .cpu = -5});
  w.apply("good", 12);
  w.end(3, 12);
  w.wait();
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_EQ(w.outcome(12), "done");
  EXPECT_EQ(w.replica_sets(), "good");
  EXPECT_EQ(w.issues["bad"], "parked");
  EXPECT_EQ(w.statuses["d_worse"].observed_version, Version(11));
  EXPECT_NE(w.statuses["d_worse"].parked.find("cpu_millicores"), std::string::npos)
      << w.statuses["d_worse"].parked;
  w.apply("worse", 13);
  w.wait();
  EXPECT_EQ(w.outcome(13), "done");
  EXPECT_EQ(w.replica_sets(), "good worse");
  EXPECT_FALSE(w.issues.contains("worse"));
  EXPECT_EQ(w.statuses["d_worse"].parked, "");
}

TEST(Applier, ParksWhatTheClusterRefuses) {
  World w({{"force", false}});
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  const auto theirs = w.call(
      DAVIT_VERB_APPLY, "replicasets", "acme", "web",
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","namespace":"acme"},
                                 "spec":{"replicas":7}})",
      {{"fieldManager", "somebody"}, {"force", "true"}});
  ASSERT_EQ(theirs.code, Code::ok) << theirs.message;
  w.apply("web", 11, {3});
  w.apply("good", 12);
  w.wait();
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_NE(w.statuses["d_web"].parked.find("somebody"), std::string::npos)
      << w.statuses["d_web"].parked;
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.outcome(12), "done");
}

TEST(Applier, TouchesNothingThatIsHeld) {
  World w;
  w.begin(true);
  w.apply("web", 10, {2});
  w.wait();
  w.hold("web", 11);
  EXPECT_EQ(w.outcome(11), "held");
  EXPECT_EQ(w.issues["web"], "held");
  w.call(DAVIT_VERB_MERGE, "replicasets", "acme", "web", R"({"spec":{"replicas":7}})");
  w.wait(5min);
  EXPECT_EQ(w.replicas("web"), 7);
  w.begin(true);
  w.hold("web", 11);
  w.end(1, 11);
  w.wait(5min);
  EXPECT_EQ(w.replicas("web"), 7) << "a held record is named: it is not pruned";
  w.apply("web", 12, {2});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 2);
  EXPECT_FALSE(w.issues.contains("web"));
}

TEST(Applier, DoesNotHammerAClusterThatAsksForAPause) {
  constexpr uint64_t records = 200;
  World w;
  w.begin(true);
  w.throttle(2s);
  for (uint64_t n = 1; n <= records; ++n) w.apply("web" + std::to_string(n), Version(n));
  w.end(records, Version(records));
  w.wait(60s);
  EXPECT_LE(w.requests(), 16u + 8 + 4 + 2 + 60 / 2) << "halves, and then one after each pause";
  EXPECT_EQ(w.count("throttled"), static_cast<double>(w.requests()));
  EXPECT_EQ(w.count("applies"), 0) << "the namespace comes first";
  EXPECT_EQ(w.host().metric("davit_applier_concurrency"), 1);
  const size_t before = w.requests();
  w.throttle(0ms);
  w.wait(60s);
  for (uint64_t n = 1; n <= records; ++n) EXPECT_EQ(w.outcome(Version(n)), "done") << n;
  EXPECT_LE(w.requests() - before, 2 * records + 10) << "a look and an apply";
  EXPECT_GE(w.host().metric("davit_applier_concurrency"), 8);
}

// It may have been restored: the records that the agent knows are there, its statuses may not be.
TEST(Applier, TellsAStoreThatWasOpenedAnewEverythingOnceMore) {
  World w;
  w.begin(true, 1);
  w.apply("web", 10);
  w.end(1, 10);
  w.wait();
  for (const Incarnation incarnation : {Incarnation(1), Incarnation(2)}) {
    w.statuses.clear();
    w.begin(false, incarnation);
    w.wait(5min);
    EXPECT_EQ(w.statuses.contains("d_web"), incarnation == Incarnation(2));
  }
}

// A restored store gives its versions again. An incarnation has all 64 bits, also in a stamp.
TEST(Applier, SaysInWhichHistoryItReadWhatItApplied) {
  World w;
  constexpr Incarnation first(UINT64_MAX), second(UINT64_MAX - 1);
  for (const Incarnation incarnation : {first, second}) {
    w.begin(true, incarnation, 0, incarnation == first ? History() : History{{first, 5}});
    w.apply("web", 10);
    w.garbage("worse", 11);
    w.end(2, 11);
    w.wait();
    EXPECT_EQ(w.statuses["d_web"].observed_incarnation, incarnation);
    EXPECT_EQ(w.statuses["d_worse"].observed_incarnation, incarnation) << "which is parked";
  }
}

// What is written may depend on what is there: here the template's hash tells of an edit.
TEST(Applier, PlansWithWhatItFindsWhileItsWatchesAreNotComplete) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.call(
      DAVIT_VERB_MERGE, "replicasets", "acme", "web",
      R"({"spec":{"template":{"spec":{"containers":[{"name":"deployment","image":"edited"}]}}}})");
  w.wait();
  const auto pod_template = [&] { return w.replica_set("web").at_pointer("/spec/template"); };
  const json::value mended = pod_template();
  EXPECT_EQ(mended.at_pointer("/spec/containers/0/image"), "nginx:1");
  w.blind();
  w.restart();
  w.begin(true);
  w.apply("web", 11, {2});
  w.wait(10s);
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_EQ(w.replicas("web"), 2);
  EXPECT_EQ(pod_template(), mended);
}

}  // namespace
}  // namespace davit::applier::test

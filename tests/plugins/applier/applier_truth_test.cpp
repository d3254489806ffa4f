// The agent says only what it sees, and says that it cannot see.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

const std::string forbidden = "403 Forbidden: cannot watch resource \"pods\" at the cluster scope";

// Two pods run, and are reported.
struct Truth : World {
  explicit Truth(const testing::Config& c = {}) : World(c) {
    begin(true);
    apply("web", 10, {2});
    end(1, 10);
    wait();
    EXPECT_EQ(statuses["d_web"].ready, 2);
  }
  void start_again() {
    restart();
    begin(true);
    apply("web", 10, {2});
    end(1, 10);
  }
  // A reconciliation begins before the watches can be trusted and ends when they can.
  void see_during_a_reconciliation() {
    blind();
    start_again();
    front().hold = true;
    wait(10s);
    see();
    wait();
    front().release();
  }
  double up(const std::string& resource) {
    return host().metric("davit_applier_watch_up",
                         {{"kind", "deployment"}, {"resource", resource}});
  }
};

TEST(Truth, SaysNothingOfPodsWhoseFirstPictureHasNotCome) {
  Truth w;
  w.blind();
  w.start_again();
  w.wait(20s);
  EXPECT_EQ(w.outcome(10), "done") << "applying does not wait for ever";
  EXPECT_FALSE(w.statuses.contains("d_web")) << "0 of 2 would not be true";
  w.see();
  w.wait();
  EXPECT_EQ(w.statuses["d_web"].ready, 2);
}

// The reconciliation has begun without the picture, which is whole before the reconciliation ends.
TEST(Truth, SaysWhatItSeesThoughATripBeganBefore) {
  Truth w;
  w.see_during_a_reconciliation();
  w.wait(1s);
  EXPECT_EQ(w.statuses["d_web"].ready, 2) << "at once, not with the next resync";
}

// It has another name by now. Its status was withheld when its old name was last looked at.
TEST(Truth, AnOldNameOfARecordThatLivesIsForgottenOnceItsObjectsAreGone) {
  Truth w;
  w.see_during_a_reconciliation();
  w.wait(0ms);
  w.apply("moved", 12, {.replicas = 2, .id = "d_web"});
  w.remove_record("d_web", "web", 13);
  w.wait(5s);
  EXPECT_EQ(w.replica_sets(), "moved");
  const double before = w.count("reconciliations");
  w.wait(20s);
  EXPECT_EQ(w.count("reconciliations"), before);
}

TEST(Truth, SaysNothingOfPodsItMayNotWatch) {
  Truth w;
  w.front().stop_showing("pods", DAVIT_WATCH_REFUSED, forbidden);
  w.start_again();
  w.wait(5min);
  EXPECT_FALSE(w.statuses.contains("d_web"));
  EXPECT_EQ(w.issues["pods"], "blind");
  EXPECT_TRUE(w.reasons["pods"].starts_with("since 20")) << w.reasons["pods"];
  EXPECT_TRUE(w.reasons["pods"].ends_with("Z: " + forbidden)) << w.reasons["pods"];
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_TRUE(w.host().health_reason().starts_with("blind: pods (deployment) since 20"))
      << w.host().health_reason();
  w.front().show("pods");
  w.wait();
  EXPECT_EQ(w.statuses["d_web"].ready, 2);
  EXPECT_FALSE(w.issues.contains("pods"));
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING);
}

TEST(Truth, IsBlindAtOnceWhenAWatchThatWorkedIsRefused) {
  Truth w;
  w.statuses.clear();
  w.front().stop_showing("pods", DAVIT_WATCH_REFUSED, forbidden);
  w.wait(0ms);
  EXPECT_EQ(w.issues["pods"], "blind");
  w.apply("web", 11, {3});
  w.wait(5min);
  EXPECT_EQ(w.replicas("web"), 3) << "what is wanted is done all the same";
  EXPECT_FALSE(w.statuses.contains("d_web"));
  w.front().show("pods");
  w.wait();
  EXPECT_EQ(w.statuses["d_web"].ready, 3);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(11));
}

// An API server that comes back without our Role, say.
TEST(Truth, SaysThatAWatchIsRefusedThatWasCutBefore) {
  Truth w;
  w.front().stop_showing("pods", DAVIT_WATCH_TROUBLE, "connection refused");
  w.wait();
  w.front().stop_showing("pods", DAVIT_WATCH_REFUSED, forbidden);
  w.wait();
  EXPECT_TRUE(w.host().logged("watch is refused"));
  EXPECT_EQ(w.issues["pods"], "blind");
}

TEST(Truth, TrustsWhatItSawForAWhileWhenAWatchIsCut) {
  Truth w({{"blind_after_ms", 30'000}});
  w.front().stop_showing("pods", DAVIT_WATCH_TROUBLE, "connection refused");
  w.wait(29s);
  EXPECT_FALSE(w.issues.contains("pods"));
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING);
  w.wait(2s);
  EXPECT_EQ(w.issues["pods"], "blind");
  w.statuses.clear();
  w.apply("web", 11, {3});
  w.wait();
  EXPECT_FALSE(w.statuses.contains("d_web"));
}

// Nothing has happened meanwhile: the picture goes on from where it was.
TEST(Truth, SeesAgainWhenACutWatchGoesOnWithoutAnyEvent) {
  Truth w;
  w.front().stop_showing("pods", DAVIT_WATCH_TROUBLE, "connection refused");
  w.wait(1min);
  ASSERT_EQ(w.issues["pods"], "blind");
  w.statuses.clear();
  w.front().say("pods", DAVIT_WATCH_SYNCED, R"({"metadata":{"resourceVersion":"1000000"}})");
  w.wait();
  EXPECT_FALSE(w.issues.contains("pods"));
  EXPECT_EQ(w.statuses["d_web"].health, "healthy") << "said anew, so that it is known to hold";
}

TEST(Truth, SaysThatAFirstPictureDoesNotCome) {
  Truth w;
  w.blind();
  w.start_again();
  w.wait(1min);
  EXPECT_EQ(w.issues["pods"], "blind");
  EXPECT_TRUE(w.reasons["pods"].ends_with("its first picture has not come")) << w.reasons["pods"];
}

// Autoscalers are nothing that the status of a deployment without one is made of.
TEST(Truth, GoesOnSayingWhatDoesNotDependOnWhatItDoesNotSee) {
  Truth w;
  w.statuses.clear();
  w.front().stop_showing("horizontalpodautoscalers", DAVIT_WATCH_REFUSED, "403 Forbidden");
  w.wait(10s);
  EXPECT_EQ(w.issues["horizontalpodautoscalers.autoscaling"], "blind");
  EXPECT_EQ(w.statuses["d_web"].ready, 2) << "said anew since: it is seen all the same";
  w.apply("web", 11, {3});
  w.wait();
  EXPECT_EQ(w.statuses["d_web"].ready, 3);
}

TEST(Truth, ADeleteThatWaitsSaysForWhat) {
  Truth w;
  w.front().stop_showing("horizontalpodautoscalers", DAVIT_WATCH_REFUSED, "403 Forbidden");
  w.host().run();  // the agent has heard of it
  w.remove("web", 11);
  w.wait(2min);
  EXPECT_EQ(w.replica_sets(), "web");
  EXPECT_EQ(w.issues["web"], "delayed");
  EXPECT_TRUE(
      w.reasons["web"].starts_with("its delete waits until the agent sees "
                                   "horizontalpodautoscalers.autoscaling since 20"))
      << w.reasons["web"];
  w.front().show("horizontalpodautoscalers");
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_FALSE(w.issues.contains("web"));
}

TEST(Truth, ADeleteThatWaitsAlreadySaysSoWhenTheAgentGoesBlind) {
  Truth w;
  w.blind();
  w.start_again();
  w.remove("web", 11);
  w.wait(10s);
  EXPECT_FALSE(w.issues.contains("web")) << "it may come yet";
  w.wait(1min);
  EXPECT_EQ(w.issues["web"], "delayed");
}

TEST(Truth, ShowsInTheMetricsWhichWatchesWork) {
  Truth w;
  EXPECT_EQ(w.up("pods"), 1);
  EXPECT_EQ(w.up("horizontalpodautoscalers.autoscaling"), 1);
  w.front().stop_showing("pods", DAVIT_WATCH_REFUSED, forbidden);
  w.wait(0ms);
  EXPECT_EQ(w.up("pods"), 0);
  EXPECT_EQ(w.up("horizontalpodautoscalers.autoscaling"), 1);
}

// --- rights

TEST(Truth, NamesEachRightThatIsMissing) {
  Truth w;
  w.front().denied = {"list pods", "watch pods", "delete replicasets"};
  w.start_again();
  w.wait();
  EXPECT_EQ(w.issues["access to pods"], "denied");
  EXPECT_EQ(w.reasons["access to pods"],
            "the agent's account may not list, watch pods (API group \"\") in all namespaces: "
            "grant it by a ClusterRole");
  EXPECT_EQ(w.reasons["access to replicasets.apps"],
            "the agent's account may not delete replicasets (API group \"apps\") in all "
            "namespaces: grant it by a ClusterRole");
  EXPECT_TRUE(
      w.host().logged("a right is missing kind=deployment resource=replicasets.apps verbs=delete"));
  EXPECT_EQ(w.host().metric("davit_applier_rights_missing"), 3);
  EXPECT_EQ(w.statuses["d_web"].ready, 2) << "what is allowed goes on";
  w.front().denied.clear();
  w.wait(6min);
  EXPECT_TRUE(w.issues.empty());
}

TEST(Truth, ARightThatIsTakenAwayWhileItWorksIsNamed) {
  Truth w;
  w.front().denied = {"create replicasets"};
  w.front().policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != DAVIT_VERB_APPLY || q.name != "new") return std::nullopt;
    return refusal(403, "Forbidden",
                   "replicasets.apps is forbidden: User \"davit\" cannot create resource "
                   "\"replicasets\" in API group \"apps\"");
  };
  w.apply("new", 11);
  w.wait();
  EXPECT_EQ(w.issues["access to replicasets.apps"], "denied");
  EXPECT_EQ(w.statuses["d_web"].ready, 2) << "what is allowed goes on";
}

TEST(Truth, AsksForItsRightsOnceWhenItHasThem) {
  Truth w;
  const size_t before = w.front().reviews;
  EXPECT_EQ(before, 20u)
      << "namespaces 2, replica sets and autoscalers 6 each, pods 3, the runtime class 1, "
         "events 2";
  w.wait(30min);
  EXPECT_EQ(w.front().reviews, before);
  w.front().stop_showing("pods", DAVIT_WATCH_REFUSED, forbidden);
  w.wait();
  EXPECT_EQ(w.front().reviews, 2 * before) << "a refusal is a reason to ask again";
}

TEST(Truth, AsksForNoRightsWhenItIsToldNotTo) {
  Truth w({{"access_review_interval_ms", 0}});
  w.wait(30min);
  EXPECT_EQ(w.front().reviews, 0u);
}

TEST(Truth, ItsCheckNamesTheRightsThatAreMissing) {
  Truth w;
  EXPECT_EQ(w.check(), "");
  w.front().denied = {"list horizontalpodautoscalers", "patch replicasets"};
  EXPECT_EQ(w.check(),
            "deployment: the agent's account may not list horizontalpodautoscalers (API group "
            "\"autoscaling\") in all namespaces: grant it by a ClusterRole, or set autoscaling = "
            "false for this kind; deployment: the agent's account may not patch replicasets (API "
            "group \"apps\") in all namespaces: grant it by a ClusterRole");
}

TEST(Truth, SaysWhatTheClusterLacksAndWhichSettingDoesWithout) {
  Truth w;
  w.front().absent = {"runtimeclasses", "horizontalpodautoscalers"};
  const std::string gvisor =
      "the cluster has no runtimeclasses.node.k8s.io gvisor: create it, or set runtime_class = "
      "\"\" for this kind";
  EXPECT_EQ(w.check(),
            "deployment: the cluster has no horizontalpodautoscalers.autoscaling/v2: install its "
            "definition, or set autoscaling = false for this kind; deployment: " +
                gvisor);
  w.start_again();
  w.wait();
  EXPECT_EQ(w.issues["runtimeclasses.node.k8s.io gvisor"], "missing");
  EXPECT_EQ(w.reasons["runtimeclasses.node.k8s.io gvisor"], gvisor);
  EXPECT_EQ(w.issues["horizontalpodautoscalers.autoscaling/v2"], "missing");
  EXPECT_TRUE(w.host().logged("the cluster lacks what a kind needs kind=deployment"));
  EXPECT_EQ(w.statuses["d_web"].ready, 2) << "what does not need it goes on";
  w.front().absent.clear();
  w.wait(6min);
  EXPECT_TRUE(w.issues.empty());
}

// --- what runs

TEST(Truth, AChangeThatKeepsFailingSaysWhy) {
  Truth w;
  w.front().policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != DAVIT_VERB_APPLY) return std::nullopt;
    cluster::Response r;
    r.code = Code::unavailable;
    r.http_status = 500;
    r.reason = "InternalError";
    r.message = "a webhook does not answer";
    return r;
  };
  w.apply("web", 11, {2, "nginx:2"});
  w.wait(10s);
  EXPECT_EQ(w.statuses["d_web"].message,
            "retrying: replicasets.apps acme/web: 500 InternalError: a webhook does not answer")
      << "so status shows its condition";
  w.front().policy = {};
  w.wait(60s);
  EXPECT_EQ(w.statuses["d_web"].message.find("retrying"), std::string::npos);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(11));
}

TEST(Truth, AnInvalidVersionErasesNothingOfWhatRuns) {
  Truth w;
  w.garbage("web", 11);
  w.wait();
  EXPECT_EQ(w.outcome(11), "parked");
  const Status& s = w.statuses["d_web"];
  EXPECT_NE(s.parked, "");
  EXPECT_EQ(s.observed_version, Version(11));
  EXPECT_EQ(s.children.size(), 2u);
  EXPECT_EQ(s.ready, 2);
  EXPECT_EQ(s.desired, 2);
  EXPECT_EQ(s.health, "healthy");
  w.apply("web", 12, {.replicas = 2, .cpu = -5});
  w.wait();
  EXPECT_EQ(w.statuses["d_web"].children.size(), 2u) << "nor does one that can be read";
  EXPECT_FALSE(w.statuses["d_web"].gone);
}

TEST(Truth, AnInvalidVersionErasesNothingThoughTheAgentKnowsNoOther) {
  Truth w;
  w.restart();
  w.begin(true);
  w.garbage("web", 11);
  w.end(1, 11);
  w.wait();
  const Status& s = w.statuses["d_web"];
  EXPECT_NE(s.parked, "");
  EXPECT_EQ(s.children.size(), 2u);
  EXPECT_EQ(s.ready, 2);
  EXPECT_FALSE(s.gone);
  EXPECT_EQ(s.message, "") << "it is not being deleted";
}

TEST(Truth, AfterARestartAPeerWithoutHistoryCausesNoApplies) {
  World w;
  w.begin_ctrl_v1();
  for (uint64_t n = 1; n <= 20; ++n) w.apply("web" + std::to_string(n), Version(n));
  w.end(std::nullopt, 20);
  w.wait();
  const double before = w.count("applies");
  EXPECT_EQ(before, 20);
  w.restart();
  w.begin_ctrl_v1();
  for (uint64_t n = 1; n <= 20; ++n) w.apply("web" + std::to_string(n), Version(n));
  w.end(std::nullopt, 20);
  w.wait(10min);
  EXPECT_EQ(w.count("applies"), before);
}

TEST(Truth, AWatchThatTheClusterDoesNotUnderstandIsOneThatIsNotSeen) {
  World w;
  w.front().not_understood = {"pods"};
  w.restart();
  w.begin(true);
  w.apply("web", 10);
  w.end(1, 10);
  w.wait(1min);
  EXPECT_EQ(w.issues["pods"], "blind");
  EXPECT_TRUE(contains(w.reasons["pods"], "flags has bit 20")) << w.reasons["pods"];
}

}  // namespace
}  // namespace davit::applier::test

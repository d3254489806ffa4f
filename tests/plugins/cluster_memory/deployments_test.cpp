#include "fixture.hpp"

namespace davit::cluster_memory {
namespace {

class DeploymentController : public Simulation {
 protected:
  void deploy(int replicas, const std::string& image = "a:1", const std::string& rolling = "{}") {
    const auto r = apply(
        "apps/v1/deployments", "default", "web",
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":)" +
            std::to_string(replicas) +
            R"(,"selector":{"matchLabels":{"app":"web"}},"strategy":{"rollingUpdate":)" + rolling +
            R"(},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":")" +
            image + R"("}]}}}})");
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  int64_t status(std::string_view field) {
    const auto o = object(get("apps/v1/deployments", "default", "web"));
    const auto* v = at(o, {"status", field});
    return v == nullptr ? 0 : v->as_int64();
  }
  std::vector<Object> sets() { return store.list({"apps", "replicasets"}, "default"); }
  // How many pods of an image are there, and how many of all are ready.
  int pods(std::string_view image) {
    int n = 0;
    for (const auto& p : store.list({"", "pods"}, "default"))
      n += string_at(at(*p, {"spec", "containers"})->as_array()[0].as_object(), {"image"}) == image;
    return n;
  }
};

TEST_F(DeploymentController, BecomesAvailableThroughAReplicaSet) {
  deploy(3);
  settle();
  ASSERT_EQ(sets().size(), 1u);
  const json::object set = *sets()[0];
  const std::string name(string_at(set, {"metadata", "name"}));
  const std::string hash(string_at(set, {"metadata", "labels", "pod-template-hash"}));
  EXPECT_EQ(name, "web-" + hash);
  EXPECT_EQ(string_at(set, {"spec", "selector", "matchLabels", "pod-template-hash"}), hash);
  EXPECT_EQ(string_at(set, {"spec", "selector", "matchLabels", "app"}), "web");
  EXPECT_EQ(count("v1/pods", "app=web,pod-template-hash=" + hash), 3u);
  EXPECT_EQ(status("availableReplicas"), 0);
  EXPECT_EQ(status("unavailableReplicas"), 3);
  advance(500);
  for (const char* field : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"})
    EXPECT_EQ(status(field), 3) << field;
  EXPECT_EQ(status("unavailableReplicas"), 0);
  EXPECT_EQ(status("observedGeneration"), 1);
}

TEST_F(DeploymentController, FollowsItsReplicasWithoutANewReplicaSet) {
  deploy(1);
  advance(500);
  deploy(4);
  advance(500);
  EXPECT_EQ(status("availableReplicas"), 4);
  deploy(0);
  advance(500);
  EXPECT_EQ(status("replicas"), 0);
  EXPECT_EQ(status("observedGeneration"), 3);
  EXPECT_EQ(pods("a:1"), 0);
  EXPECT_EQ(sets().size(), 1u);
}

TEST_F(DeploymentController, RollsOverWithoutLosingAPodWhenToldSo) {
  deploy(3, "a:1", R"({"maxUnavailable":0,"maxSurge":1})");
  advance(500);
  deploy(3, "a:2", R"({"maxUnavailable":0,"maxSurge":1})");
  const int old_pods[] = {3, 2, 1, 0};
  for (const int old : old_pods) {
    settle();
    EXPECT_EQ(pods("a:1"), old);
    EXPECT_EQ(pods("a:2"), std::min(3, 4 - old));
    EXPECT_GE(status("availableReplicas"), 3);
    EXPECT_EQ(status("updatedReplicas"), std::min(3, 4 - old));
    advance(500);
  }
  EXPECT_EQ(status("availableReplicas"), 3);
  EXPECT_EQ(status("replicas"), 3);
  EXPECT_EQ(sets().size(), 1u) << "no history is kept";
}

TEST_F(DeploymentController, RollsByAQuarterWhenNothingIsSaid) {
  deploy(8);
  advance(500);
  deploy(8, "a:2");
  settle();
  EXPECT_EQ(pods("a:2"), 4) << "two more than wanted, and two that were spared";
  EXPECT_EQ(pods("a:1"), 6);
}

TEST_F(DeploymentController, LeavesPodsThatNeverServedAtOnce) {
  deploy(2, "a:1");
  settle();
  deploy(2, "a:2");
  settle();
  EXPECT_EQ(pods("a:1"), 0);
  EXPECT_EQ(pods("a:2"), 2);
}

TEST_F(DeploymentController, BringsAReplicaSetBackThatSomebodyDeleted) {
  deploy(2);
  advance(500);
  call("delete", "apps/v1/replicasets", "default",
       std::string(string_at(*sets()[0], {"metadata", "name"})));
  settle();
  EXPECT_EQ(status("availableReplicas"), 0);
  advance(500);
  EXPECT_EQ(status("availableReplicas"), 2);
}

TEST_F(DeploymentController, LeavesNothingBehindWhenItIsDeleted) {
  deploy(2);
  advance(500);
  call("delete", "apps/v1/deployments", "default", "web");
  advance(500);
  EXPECT_TRUE(sets().empty());
  EXPECT_EQ(pods("a:1"), 0);
}

}  // namespace
}  // namespace davit::cluster_memory

#include "fixture.hpp"

namespace davit::cluster_memory {
namespace {

class Controllers : public Simulation {
 protected:
  int64_t status(std::string_view field) {
    const auto o = object(get("apps/v1/replicasets", "default", "web"));
    const auto* v = at(o, {"status", field});
    return v == nullptr ? 0 : v->as_int64();
  }
  std::vector<json::object> pods() {
    std::vector<json::object> out;
    for (auto& p : store.list({"", "pods"}, "default")) out.push_back(*p);
    return out;
  }
};

TEST_F(Controllers, ReplicaSetGetsItsPods) {
  apply_replica_set("web", 3);
  settle();
  ASSERT_EQ(pods().size(), 3u);
  for (const auto& p : pods()) {
    const std::string name(string_at(p, {"metadata", "name"}));
    EXPECT_TRUE(name.starts_with("web-") && name.size() == 9) << name;
    EXPECT_EQ(string_at(p, {"metadata", "labels", "app"}), "web");
    EXPECT_EQ(string_at(p, {"status", "phase"}), "Pending");
    const auto& owner = at(p, {"metadata", "ownerReferences"})->as_array()[0].as_object();
    EXPECT_EQ(string_at(owner, {"uid"}),
              text(get("apps/v1/replicasets", "default", "web"), {"metadata", "uid"}));
    EXPECT_TRUE(owner.at("controller").as_bool());
  }
  EXPECT_EQ(status("replicas"), 3);
  EXPECT_EQ(status("readyReplicas"), 0);
}

TEST_F(Controllers, PodsBecomeReadyAfterTheirTimeAndNotBefore) {
  apply_replica_set("web", 2);
  settle();
  ASSERT_TRUE(due);
  EXPECT_EQ(*due, now + 500);
  advance(499);
  EXPECT_EQ(status("readyReplicas"), 0);
  advance(1);
  EXPECT_EQ(status("readyReplicas"), 2);
  EXPECT_EQ(status("availableReplicas"), 2);
  EXPECT_EQ(status("fullyLabeledReplicas"), 2);
  EXPECT_EQ(status("observedGeneration"), 1);
  std::set<std::string> addresses;
  for (const auto& p : pods()) {
    EXPECT_EQ(string_at(p, {"status", "phase"}), "Running");
    addresses.insert(std::string(string_at(p, {"status", "podIP"})));
  }
  EXPECT_EQ(addresses.size(), 2u);
  EXPECT_FALSE(due);
}

TEST_F(Controllers, ScalingUpAndDownFollowsSpec) {
  apply_replica_set("web", 2);
  advance(500);
  apply_replica_set("web", 4);
  settle();
  EXPECT_EQ(pods().size(), 4u);
  apply_replica_set("web", 2);  // those that are not ready yet go first
  settle();
  EXPECT_EQ(status("readyReplicas"), 2);
  apply_replica_set("web", 0);
  settle();
  EXPECT_EQ(pods().size(), 0u);
  EXPECT_EQ(status("replicas"), 0);
}

TEST_F(Controllers, DeletedPodIsReplaced) {
  apply_replica_set("web", 1);
  advance(500);
  EXPECT_EQ(status("readyReplicas"), 1);
  const std::string name(string_at(pods()[0], {"metadata", "name"}));
  call("delete", "v1/pods", "default", name);
  settle();
  ASSERT_EQ(pods().size(), 1u);
  EXPECT_NE(string_at(pods()[0], {"metadata", "name"}), name);
  EXPECT_EQ(status("readyReplicas"), 0);
  advance(500);
  EXPECT_EQ(status("readyReplicas"), 1);
}

TEST_F(Controllers, DeletingTheReplicaSetDeletesItsPods) {
  apply_replica_set("web", 3);
  advance(500);
  call("delete", "apps/v1/replicasets", "default", "web");
  settle();
  EXPECT_EQ(pods().size(), 0u);
}

TEST_F(Controllers, TemplateChangeLeavesOldPodsAndShowsInNewOnes) {
  apply_replica_set("web", 1, "a:1");
  settle();
  apply_replica_set("web", 2, "a:2");
  settle();
  std::multiset<std::string> images;
  for (const auto& p : pods()) {
    images.insert(std::string(
        string_at(at(p, {"spec", "containers"})->as_array()[0].as_object(), {"image"})));
  }
  EXPECT_EQ(images, (std::multiset<std::string>{"a:1", "a:2"}));
}

TEST_F(Controllers, AThousandReplicaSetsSettle) {
  for (int i = 0; i < 1000; ++i) apply_replica_set("web-" + std::to_string(i), 1);
  settle();
  advance(500);
  EXPECT_EQ(count("v1/pods"), 1000u);
}

}  // namespace
}  // namespace davit::cluster_memory

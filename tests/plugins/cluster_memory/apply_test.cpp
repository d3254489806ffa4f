#include "fixture.hpp"

namespace davit::cluster_memory {
namespace {

using Apply = Simulation;

std::string data_of(const cluster::Response& r) {
  return json::serialize(json::parse(r.body).as_object()["data"]);
}

TEST_F(Apply, CreatesThenChangesAndKeepsTheUid) {
  auto made = apply_map("a", R"({"k":"v"})");
  EXPECT_EQ(made.http_status, 201);
  auto changed = apply_map("a", R"({"k":"w"})");
  EXPECT_EQ(changed.http_status, 200);
  EXPECT_EQ(text(made, {"metadata", "uid"}), text(changed, {"metadata", "uid"}));
  EXPECT_EQ(data_of(changed), R"({"k":"w"})");
}

TEST_F(Apply, TheSameAgainWritesNothing) {
  apply_replica_set("web", 2);
  advance(600);
  const auto before = store.version();
  now += 60'000;
  EXPECT_EQ(apply_replica_set("web", 2).http_status, 200);
  EXPECT_EQ(store.version(), before);
}

TEST_F(Apply, RemovesWhatTheManagerAppliedBeforeAndOmitsNow) {
  apply_map("a", R"({"k":"v","l":"w"})");
  EXPECT_EQ(data_of(apply_map("a", R"({"k":"v"})")), R"({"k":"v"})");
}

TEST_F(Apply, KeepsWhatOthersOwn) {
  apply_map("a", R"({"k":"v"})");
  apply_map("a", R"({"other":"x"})", "someone");
  call("merge", "v1/configmaps", "default", "a", R"({"data":{"third":"y"}})",
       {{"fieldManager", "kubectl"}});
  auto r = apply_map("a", R"({"new":"n"})");
  EXPECT_EQ(data_of(r), R"({"new":"n","other":"x","third":"y"})") << r.body;
}

TEST_F(Apply, AFieldThatTwoManagersOwnStaysWhenOneLetsGo) {
  apply_map("a", R"({"k":"v"})");
  EXPECT_EQ(apply_map("a", R"({"k":"v"})", "someone", false).http_status, 200);
  EXPECT_EQ(data_of(apply_map("a", R"({"z":"1"})")), R"({"k":"v","z":"1"})");
}

TEST_F(Apply, AnotherValueForAnothersFieldConflictsUnlessForced) {
  apply_map("a", R"({"k":"v"})");
  auto refused = apply_map("a", R"({"k":"w"})", "someone", false);
  EXPECT_EQ(refused.code, Code::aborted);
  EXPECT_EQ(refused.message, "Apply failed with 1 conflict: conflict with \"davit\": .data.k");
  EXPECT_EQ(data_of(apply_map("a", R"({"k":"w"})", "someone", true)), R"({"k":"w"})");
  // Now it is theirs: the first manager may let it go without removing it.
  EXPECT_EQ(data_of(apply_map("a", R"({"z":"1"})")), R"({"k":"w","z":"1"})");
}

TEST_F(Apply, AConflictNamesTheFieldsAndTheirManagers) {
  apply_map("a", R"({"k":"v","l":"w"})");
  const auto refused = apply_map("a", R"({"k":"x","l":"y"})", "someone", false);
  const auto o = object(refused);
  EXPECT_EQ(json::serialize(*at(o, {"details", "causes"})),
            R"([{"reason":"FieldManagerConflict","message":"conflict with \"davit\"",)"
            R"("field":".data.k"},{"reason":"FieldManagerConflict",)"
            R"("message":"conflict with \"davit\"","field":".data.l"}])");
}

TEST_F(Apply, OfAnotherStateThanItNamesIsRefusedBeforeItsObjectIsJudged) {
  const std::string old = text(apply_replica_set("web", 2), {"metadata", "resourceVersion"});
  const std::string live = text(apply_replica_set("web", 3), {"metadata", "resourceVersion"});
  const auto invalid = [&](const std::string& version) {
    return apply("apps/v1/replicasets", "default", "web",
                 R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"resourceVersion":")" +
                     version + R"("},"spec":{"replicas":-1}})");
  };
  const auto refused = invalid(old);
  EXPECT_EQ(refused.http_status, 409);
  EXPECT_EQ(refused.message,
            "Operation cannot be fulfilled on replicasets.apps \"web\": the object has been "
            "modified; please apply your changes to the latest version and try again");
  EXPECT_EQ(at(object(refused), {"details", "causes"}), nullptr);
  EXPECT_EQ(invalid(live).http_status, 422);
}

TEST_F(Apply, OfAStatusOfWhatIsNotThereIsNotFound) {
  const auto refused =
      call("apply", "apps/v1/replicasets", "default", "web",
           R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"uid":"u"}})",
           {{"fieldManager", "davit"}, {"force", "true"}}, "status");
  EXPECT_EQ(refused.http_status, 404);
}

TEST_F(Apply, AnEditBehindOurBackIsTakenBack) {
  apply_replica_set("web", 2);
  call("merge", "apps/v1/replicasets", "default", "web", R"({"spec":{"replicas":9}})",
       {{"fieldManager", "kubectl"}});
  auto r = apply_replica_set("web", 2);
  EXPECT_EQ(at(object(r), {"spec", "replicas"})->as_int64(), 2);
}

TEST_F(Apply, ListsWithKeysAreMergedByThem) {
  apply_replica_set("web", 1);
  call("merge", "apps/v1/replicasets", "default", "web",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"a:1","tty":true},
           {"name":"sidecar","image":"s"}]}}}})",
       {{"fieldManager", "injector"}});
  auto r = apply_replica_set("web", 1, "a:2");
  EXPECT_EQ(json::serialize(*at(object(r), {"spec", "template", "spec", "containers"})),
            R"([{"name":"main","image":"a:2","tty":true},{"name":"sidecar","image":"s"}])");
}

TEST_F(Apply, ItemsOfKeyedListsGoWhenTheyAreOmitted) {
  auto with_env = [&](std::string env) {
    return apply("v1/pods", "default", "p",
                 R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"main","env":)" +
                     env + "}]}}");
  };
  with_env(R"([{"name":"A","value":"1"},{"name":"B","value":"2"}])");
  auto r = with_env(R"([{"name":"B","value":"3"}])");
  EXPECT_EQ(
      json::serialize(at(object(r), {"spec", "containers"})->as_array()[0].as_object().at("env")),
      R"([{"name":"B","value":"3"}])");
}

TEST_F(Apply, OtherListsAreReplacedWhole) {
  auto policy = [&](std::string rules) {
    return apply("cilium.io/v2/ciliumnetworkpolicies", "default", "p",
                 R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","spec":{"ports":)" +
                     rules + "}}");
  };
  policy(R"([{"port":1},{"port":2}])");
  EXPECT_EQ(json::serialize(*at(object(policy(R"([{"port":3}])")), {"spec", "ports"})),
            R"([{"port":3}])");
}

TEST_F(Apply, NeedsAFieldManager) {
  EXPECT_EQ(apply("v1/configmaps", "default", "a", R"({"apiVersion":"v1","kind":"ConfigMap"})", "")
                .http_status,
            400);
}

TEST_F(Apply, WhatTheServerFilledInStays) {
  apply_replica_set("web", 1);
  advance(600);
  auto r = apply_replica_set("web", 3);
  EXPECT_EQ(at(object(r), {"status", "replicas"})->as_int64(), 1);
  EXPECT_FALSE(text(r, {"metadata", "creationTimestamp"}).empty());
}

}  // namespace
}  // namespace davit::cluster_memory

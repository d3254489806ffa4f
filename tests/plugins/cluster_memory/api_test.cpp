#include "fixture.hpp"
#include "kubernetes/times.hpp"

namespace davit::cluster_memory {
namespace {

using Api_ = Simulation;

const std::string map_a =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"1"}}})";

TEST_F(Api_, CreateFillsInWhatTheServerOwns) {
  auto r = call("create", "v1/configmaps", "default", "", map_a);
  EXPECT_EQ(r.http_status, 201);
  EXPECT_FALSE(text(r, {"metadata", "uid"}).empty());
  EXPECT_EQ(text(r, {"metadata", "namespace"}), "default");
  EXPECT_EQ(text(r, {"metadata", "creationTimestamp"}), kubernetes::time_text(now));
  EXPECT_EQ(text(get("v1/configmaps", "default", "a"), {"metadata", "uid"}),
            text(r, {"metadata", "uid"}));
}

TEST_F(Api_, SecondCreateSaysAlreadyExists) {
  call("create", "v1/configmaps", "default", "a", map_a);
  auto r = call("create", "v1/configmaps", "default", "a", map_a);
  EXPECT_EQ(r.code, Code::already_exists);
  EXPECT_EQ(r.http_status, 409);
  EXPECT_EQ(r.message, "configmaps \"a\" already exists");
}

TEST_F(Api_, AbsentObjectIsAStatusBody) {
  auto r = get("apps/v1/replicasets", "default", "nope");
  EXPECT_EQ(r.code, Code::not_found);
  EXPECT_EQ(text(r, {"kind"}), "Status");
  EXPECT_EQ(text(r, {"reason"}), "NotFound");
  EXPECT_EQ(r.message, "replicasets.apps \"nope\" not found");
}

TEST_F(Api_, NamespaceMustExist) {
  auto r = apply("v1/configmaps", "nowhere", "a", R"({"apiVersion":"v1","kind":"ConfigMap"})");
  EXPECT_EQ(r.code, Code::not_found);
  EXPECT_EQ(r.message, "namespaces \"nowhere\" not found");
}

TEST_F(Api_, InvalidNameIsRefused) {
  auto r = apply_map("Not_A_Name", "{}");
  EXPECT_EQ(r.code, Code::invalid_argument);
  EXPECT_EQ(r.http_status, 422);
  EXPECT_EQ(r.reason, "Invalid");
  EXPECT_NE(r.message.find("ConfigMap \"Not_A_Name\" is invalid: metadata.name"), std::string::npos)
      << r.message;
}

TEST_F(Api_, InvalidReplicaSetsAreRefused) {
  EXPECT_EQ(apply_replica_set("web", -1).http_status, 422);
  auto other = apply(
      "apps/v1/replicasets", "default", "web",
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"selector":{"matchLabels":{"a":"b"}},
                         "template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"m"}]}}}})");
  EXPECT_EQ(other.http_status, 422);
  EXPECT_NE(other.message.find("does not match template `labels`"), std::string::npos);
}

TEST_F(Api_, UpdateOfAnOlderVersionConflicts) {
  auto first = call("create", "v1/configmaps", "default", "a", map_a);
  auto body = object(first);
  body["data"] = {{"k", "v"}};
  EXPECT_EQ(call("update", "v1/configmaps", "default", "a", json::serialize(body)).http_status,
            200);
  auto late = call("update", "v1/configmaps", "default", "a", json::serialize(body));
  EXPECT_EQ(late.code, Code::aborted);
  EXPECT_EQ(late.reason, "Conflict");
}

TEST_F(Api_, MergePatchSetsAndRemoves) {
  apply_map("a", R"({"k":"v","l":"w"})");
  auto r = call("merge", "v1/configmaps", "default", "a", R"({"data":{"k":null,"m":"x"}})");
  EXPECT_EQ(json::serialize(object(r)["data"]), R"({"l":"w","m":"x"})");
}

TEST_F(Api_, DeletePreconditionsAreChecked) {
  auto made = apply_map("a", "{}");
  auto wrong = call("delete", "v1/configmaps", "default", "a",
                    R"({"preconditions":{"uid":"someone-else"}})");
  EXPECT_EQ(wrong.code, Code::aborted);
  wrong = call("delete", "v1/configmaps", "default", "a",
               R"({"preconditions":{"resourceVersion":"1"}})");
  EXPECT_EQ(wrong.code, Code::aborted);
  EXPECT_EQ(get("v1/configmaps", "default", "a").http_status, 200);
  const json::object right = {{"preconditions",
                               {{"uid", text(made, {"metadata", "uid"})},
                                {"resourceVersion", text(made, {"metadata", "resourceVersion"})}}}};
  EXPECT_EQ(call("delete", "v1/configmaps", "default", "a", json::serialize(right)).http_status,
            200);
  EXPECT_EQ(get("v1/configmaps", "default", "a").code, Code::not_found);
  EXPECT_EQ(call("delete", "v1/configmaps", "default", "a").code, Code::not_found);
}

TEST_F(Api_, GenerationCountsSpecChangesOnly) {
  apply_replica_set("web", 1);
  settle();  // its status is written
  EXPECT_EQ(at(object(get("apps/v1/replicasets", "default", "web")), {"metadata", "generation"})
                ->as_int64(),
            1);
  apply_replica_set("web", 2);
  EXPECT_EQ(at(object(get("apps/v1/replicasets", "default", "web")), {"metadata", "generation"})
                ->as_int64(),
            2);
}

TEST_F(Api_, StatusIsWrittenThroughItsSubresourceOnly) {
  apply_replica_set("web", 1);
  call("merge", "apps/v1/replicasets", "default", "web", R"({"status":{"replicas":7}})");
  EXPECT_EQ(at(object(get("apps/v1/replicasets", "default", "web")), {"status"}), nullptr);
  call("merge", "apps/v1/replicasets", "default", "web",
       R"({"status":{"replicas":7},"spec":{"replicas":9}})", {}, "status");
  const auto o = object(get("apps/v1/replicasets", "default", "web"));
  EXPECT_EQ(at(o, {"status", "replicas"})->as_int64(), 7);
  EXPECT_EQ(at(o, {"spec", "replicas"})->as_int64(), 1);
}

TEST_F(Api_, ResourceVersionsGrowAndUidsDiffer) {
  const auto a = apply_map("a", "{}");
  const auto b = apply_map("b", "{}");
  EXPECT_LT(std::stoull(text(a, {"metadata", "resourceVersion"})),
            std::stoull(text(b, {"metadata", "resourceVersion"})));
  EXPECT_NE(text(a, {"metadata", "uid"}), text(b, {"metadata", "uid"}));
}

TEST_F(Api_, OwnedObjectsGoWithTheirOwner) {
  const std::string uid = text(apply_map("owner", "{}"), {"metadata", "uid"});
  auto owned = [&](std::string name) {
    return apply(
        "v1/configmaps", "default", name,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"ownerReferences":[{"uid":")" + uid +
            R"(","kind":"ConfigMap","apiVersion":"v1","name":"owner"}]}})");
  };
  owned("child");
  call("delete", "v1/configmaps", "default", "owner", R"({"propagationPolicy":"Orphan"})");
  auto child = get("v1/configmaps", "default", "child");
  EXPECT_EQ(child.http_status, 200);
  EXPECT_EQ(at(object(child), {"metadata", "ownerReferences"}), nullptr);
}

TEST_F(Api_, WhatNamesOnlyAbsentOwnersGoes) {
  const auto owned_by = [&](const std::string& name, const std::string& uids) {
    apply(
        "v1/configmaps", "default", name,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"ownerReferences":[)" + uids + "]}}");
  };
  const auto owner = [](const std::string& uid) {
    return R"({"uid":")" + uid + R"(","kind":"ConfigMap","apiVersion":"v1","name":"owner"})";
  };
  const std::string uid = text(apply_map("owner", "{}"), {"metadata", "uid"});
  owned_by("of-nobody", owner("gone"));
  owned_by("of-one", owner("gone") + "," + owner(uid));
  EXPECT_EQ(get("v1/configmaps", "default", "of-nobody").http_status, 200) << "it takes a while";
  settle();
  EXPECT_EQ(get("v1/configmaps", "default", "of-nobody").http_status, 404);
  EXPECT_EQ(get("v1/configmaps", "default", "of-one").http_status, 200);
}

TEST_F(Api_, NamespaceTakesItsObjectsAlong) {
  call("create", "v1/namespaces", "", "team",
       R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
  apply("v1/configmaps", "team", "a", R"({"apiVersion":"v1","kind":"ConfigMap"})");
  call("delete", "v1/namespaces", "", "team");
  EXPECT_EQ(get("v1/configmaps", "team", "a").code, Code::not_found);
  EXPECT_EQ(apply("v1/configmaps", "team", "a", R"({"apiVersion":"v1","kind":"ConfigMap"})").code,
            Code::not_found);
}

TEST_F(Api_, FinalizersHoldADelete) {
  apply("v1/configmaps", "default", "a",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"finalizers":["example.com/x"]}})");
  EXPECT_EQ(call("delete", "v1/configmaps", "default", "a").http_status, 200);
  EXPECT_FALSE(
      text(get("v1/configmaps", "default", "a"), {"metadata", "deletionTimestamp"}).empty());
  call("merge", "v1/configmaps", "default", "a", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(get("v1/configmaps", "default", "a").code, Code::not_found);
}

TEST_F(Api_, CustomResourcesAreAccepted) {
  auto r = apply(
      "cilium.io/v2/ciliumnetworkpolicies", "default", "p",
      R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","spec":{"ingress":[{"name":"a"}]}})");
  EXPECT_EQ(r.http_status, 201);
  auto d = api.discover("cilium.io", "", "CiliumNetworkPolicy");
  EXPECT_EQ(text(d, {"resource"}), "ciliumnetworkpolicies");
}

TEST_F(Api_, DiscoverKnowsBuiltInAndDefinedKinds) {
  auto d = api.discover("apps", "", "ReplicaSet");
  EXPECT_EQ(text(d, {"resource"}), "replicasets");
  EXPECT_EQ(text(d, {"version"}), "v1");
  apply(
      "apiextensions.k8s.io/v1/customresourcedefinitions", "", "geese.example.com",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"example.com",
            "scope":"Cluster","names":{"plural":"geese","kind":"Goose"},"versions":[{"name":"v1beta1"}]}})");
  d = api.discover("example.com", "", "Goose");
  EXPECT_EQ(text(d, {"resource"}), "geese");
  EXPECT_FALSE(object(d)["namespaced"].as_bool());
}

TEST_F(Api_, IdentityIsTheUidOfKubeSystem) {
  EXPECT_EQ(api.identity().body,
            text(get("v1/namespaces", "", "kube-system"), {"metadata", "uid"}));
}

TEST_F(Api_, DryRunStoresNothing) {
  auto r =
      call("apply", "v1/configmaps", "default", "a", R"({"apiVersion":"v1","kind":"ConfigMap"})",
           {{"fieldManager", "m"}, {"dryRun", "All"}});
  EXPECT_EQ(r.code, Code::ok);
  EXPECT_EQ(get("v1/configmaps", "default", "a").code, Code::not_found);
}

struct BadRow {
  std::string verb, path, ns, name, body;
  int http;
};
TEST_F(Api_, BadRequestsAreRefusedNotCrashedOn) {
  const std::vector<BadRow> rows = {
      {"create", "v1/configmaps", "default", "a", "not json", 400},
      {"create", "v1/configmaps", "default", "a", "[]", 400},
      {"create", "v1/configmaps", "default", "a", "{}", 400},
      {"create", "v1/configmaps", "default", "", R"({"apiVersion":"v1","kind":"ConfigMap"})", 422},
      {"create", "v1/configmaps", "default", "a", R"({"apiVersion":"v1","kind":"Secret"})", 400},
      {"create", "v1/configmaps", "default", "a",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})", 400},
      {"create", "v1/configmaps", "default", "a",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":[1]})", 201},
      {"create", "v1/configmaps", "", "c", R"({"apiVersion":"v1","kind":"ConfigMap"})", 400},
      {"create", "v2/configmaps", "default", "c", R"({"apiVersion":"v2","kind":"ConfigMap"})", 404},
      {"apply", "v1/namespaces", "default", "c", R"({"apiVersion":"v1","kind":"Namespace"})", 404},
      {"update", "v1/configmaps", "default", "c", R"({"apiVersion":"v1","kind":"ConfigMap"})", 404},
      {"merge", "v1/configmaps", "default", "c", "{}", 404},
      {"delete", "v1/configmaps", "default", "a", "{", 400},
      {"dance", "v1/configmaps", "default", "a", R"({"apiVersion":"v1","kind":"ConfigMap"})", 400},
      {"apply", "v1/configmaps", "default", "c",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"a":1}}})", 400},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(call(row.verb, row.path, row.ns, row.name, row.body).http_status, row.http)
        << row.verb << " " << row.path << " " << row.name << " " << row.body;
  }
}

}  // namespace
}  // namespace davit::cluster_memory

#include "rights.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

kind::Description widgets() {
  kind::Description d;
  d.resources = {
      {DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}},
      {DAVIT_RESOURCE_OWNED, "apps", "v1", "replicasets", "ReplicaSet", true, "a=b", {}},
      {DAVIT_RESOURCE_SEEN, "", "v1", "pods", "Pod", true, "a=b", {}},
  };
  return d;
}

TEST(Rights, AreWhatTheDescriptionSays) {
  std::string out;
  for (const Right& r : rights_of(widgets())) out += r.verb + " " + r.name() + "\n";
  EXPECT_EQ(out,
            "get namespaces\ncreate namespaces\n"
            "list replicasets.apps\nwatch replicasets.apps\nget replicasets.apps\n"
            "create replicasets.apps\npatch replicasets.apps\ndelete replicasets.apps\n"
            "list pods\nwatch pods\n");
}

TEST(Rights, AreAskedForByAnAccessReview) {
  const auto q = review_of({"patch", "apps", "v1", "replicasets"});
  EXPECT_EQ(q.verb, DAVIT_VERB_CREATE);
  EXPECT_EQ(q.resource,
            (cluster::Resource{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"}));
  EXPECT_EQ(q.body,
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":)"
            R"({"resourceAttributes":{"verb":"patch","group":"apps","version":"v1",)"
            R"("resource":"replicasets"}}})");
}

TEST(Rights, AnAnswerThatIsNoneIsNotARefusal) {
  cluster::Response r;
  r.body = R"({"status":{"allowed":false}})";
  EXPECT_EQ(allowed(r), false);
  r.body = R"({"status":{"allowed":true}})";
  EXPECT_EQ(allowed(r), true);
  for (const char* body : {"", "{}", "[]", R"({"status":{"allowed":"yes"}})"}) {
    r.body = body;
    EXPECT_EQ(allowed(r), std::nullopt) << body;
  }
  r.body = R"({"status":{"allowed":true}})";
  r.code = Code::permission_denied;
  EXPECT_EQ(allowed(r), std::nullopt);
}

TEST(Rights, ThatAreMissingAreNamedByResource) {
  Missing missing;
  add(missing, {"list", "apps", "v1", "replicasets"});
  add(missing, {"watch", "apps", "v1", "replicasets"});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(describe({"replicasets.apps", ""}, missing[{"replicasets.apps", ""}], ""),
            "the agent's account may not list, watch replicasets (API group \"apps\") in all "
            "namespaces: grant it by a ClusterRole");
}

const std::vector<kind::Need>& needs() {
  static const std::vector<kind::Need> all = {
      {"", "v1", "pods", {}, {"delete"}, "replace = false"},
      {"apps", "v1", "replicasets", {}, {}, "sets = false"},
      {"node.k8s.io", "v1", "runtimeclasses", "gvisor", {}, "runtime_class = \"\""},
  };
  return all;
}

TEST(Rights, AreAlsoWhatTheKindNeedsBesides) {
  const auto all = rights_of(widgets(), needs());
  EXPECT_EQ(all.size(), rights_of(widgets()).size() + 2);
  EXPECT_EQ(all[all.size() - 2].verb + " " + all[all.size() - 2].name(), "delete pods");
  EXPECT_EQ(all.back().verb + " " + all.back().name(), "get runtimeclasses.node.k8s.io");
}

TEST(Rights, AreGrantedByOneRuleForEachResource) {
  EXPECT_EQ(cluster_role(rights_of(widgets(), needs())),
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: ClusterRole\n"
            "metadata:\n"
            "  name: davit-agent\n"
            "rules:\n"
            "- apiGroups: [\"\"]\n  resources: [namespaces]\n  verbs: [get, create]\n"
            "- apiGroups: [\"apps\"]\n  resources: [replicasets]\n"
            "  verbs: [list, watch, get, create, patch, delete]\n"
            "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [list, watch, delete]\n"
            "- apiGroups: [\"node.k8s.io\"]\n  resources: [runtimeclasses]\n  verbs: [get]\n");
}

TEST(Rights, AreThoseOfRolesWhereTheClusterIsRestrictedToNamespaces) {
  const auto some = kubernetes::in_namespaces(rights_of(widgets(), needs()), {"shop", "web"});
  const std::string rules =
      "rules:\n"
      "- apiGroups: [\"\"]\n  resources: [namespaces]\n  verbs: [get]\n"
      "- apiGroups: [\"apps\"]\n  resources: [replicasets]\n"
      "  verbs: [list, watch, get, create, patch, delete]\n"
      "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [list, watch, delete]\n";
  const auto role = [&](const std::string& ns) {
    return "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n"
           "  name: davit-agent\n  namespace: " +
           ns + "\n" + rules;
  };
  EXPECT_EQ(cluster_role(some), role("shop") + "---\n" + role("web"));
  EXPECT_EQ(kubernetes::in_namespaces(some, {}), some);
  EXPECT_NE(review_of(some.front()).body.find(R"("namespace":"shop","name":"shop")"),
            std::string::npos)
      << "a namespace is read by a right within it";
  EXPECT_EQ(describe({"replicasets.apps", "web"}, {"watch"}, ""),
            "the agent's account may not watch replicasets (API group \"apps\") in namespace "
            "\"web\": grant it by a Role in namespace web");
}

TEST(Rights, ASettingIsNamedOnlyWhenItDoesWithoutAllThatIsMissing) {
  EXPECT_EQ(way_out(needs(), "pods", {"delete"}), "replace = false");
  EXPECT_EQ(way_out(needs(), "pods", {"list", "delete"}), "");
  EXPECT_EQ(way_out(needs(), "replicasets.apps", {"list", "watch"}), "sets = false");
  EXPECT_EQ(way_out(needs(), "namespaces", {"get"}), "");
}

TEST(Parts, OnlyANotFoundThatMeansItIsWhatTheClusterLacks) {
  const auto parts = parts_of(widgets(), needs());
  ASSERT_EQ(parts.size(), 2u);
  const Part &sets = parts[0], &gvisor = parts[1];
  cluster::Response r;
  r.code = Code::not_found;
  r.http_status = 404;
  EXPECT_TRUE(is_missing(sets, r));
  EXPECT_FALSE(is_missing(gvisor, r)) << "the server does not know the resource";
  r.body = R"({"details":{"name":"gvisor"}})";
  EXPECT_TRUE(is_missing(gvisor, r));
  r.http_status = 503;
  r.code = Code::unavailable;
  EXPECT_FALSE(is_missing(sets, r));
  EXPECT_EQ(describe_missing(sets, needs()),
            "the cluster has no replicasets.apps/v1: install its definition, or set sets = false");
  EXPECT_EQ(describe_missing(gvisor, needs()),
            "the cluster has no runtimeclasses.node.k8s.io gvisor: create it, or set runtime_class "
            "= \"\"");
  EXPECT_EQ(describe_missing(sets, {}),
            "the cluster has no replicasets.apps/v1: install its definition, or leave this kind's "
            "plugin out of the agent's configuration");
}

}  // namespace
}  // namespace davit::applier

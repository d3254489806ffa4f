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
  EXPECT_EQ(describe("replicasets.apps", missing["replicasets.apps"]),
            "the agent's account may not list, watch replicasets (API group \"apps\") in all "
            "namespaces: grant it by a ClusterRole");
}

}  // namespace
}  // namespace davit::applier

// The rights of the agent's account, as `davit check` sees them.
#include "rights.hpp"

#include "world.hpp"

namespace davit::secrets_blob {
namespace {

std::string checked(World& w) {
  const auto r = w.instance.check();
  return r.ok() ? "" : r.error().message;
}

TEST(Rights, AreThoseOfTheReadme) {
  EXPECT_EQ(cluster_role(),
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n"
            "  name: davit-secrets-blob\nrules:\n"
            "- apiGroups: [\"authentication.k8s.io\"]\n  resources: [tokenreviews]\n"
            "  verbs: [create]\n"
            "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get]\n");
}

TEST(Rights, ThatAreMissingAreNamed) {
  World w;
  EXPECT_EQ(checked(w), "");
  w.api.denied = {"create tokenreviews"};
  const std::string first =
      "the agent's account may not create tokenreviews (API group \"authentication.k8s.io\") in "
      "all namespaces";
  EXPECT_EQ(checked(w), first);
  w.api.denied.insert("get pods");
  EXPECT_EQ(checked(w), first +
                            "; the agent's account may not get pods (API group \"\") in all "
                            "namespaces");
}

TEST(Rights, AreNotMissingBecauseNobodyAnswers) {
  World w;
  w.api.denied = {"create tokenreviews", "get pods"};
  w.api.refuses_reviews.emplace().code = Code::unavailable;
  EXPECT_EQ(checked(w), "");
}

}  // namespace
}  // namespace davit::secrets_blob

#include "rights.hpp"

#include <gtest/gtest.h>

namespace davit::federation {
namespace {

Configuration configuration() {
  Configuration c;
  c.upstream = "cloud";
  c.downstream = "edge";
  c.definitions = "none";
  return c;
}

TEST(FederationRights, OfAResourceAreWhatItsDirectionAndItsStatusNeed) {
  Configuration c = configuration();
  Rules rules;
  rules.resource = {"g", "v1", "robots"};
  c.resources = {rules};
  EXPECT_EQ(roles_of(c), R"(# in the cluster of the instance "cloud"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: davit-federation
rules:
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
- apiGroups: ["g"]
  resources: [robots]
  verbs: [get, list, watch]
- apiGroups: ["g"]
  resources: [robots/status]
  verbs: [update]
---
# in the cluster of the instance "edge"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: davit-federation
rules:
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
- apiGroups: ["g"]
  resources: [robots]
  verbs: [get, list, watch, create, update, delete]
)");
  c.resources[0].swapped = true;
  c.resources[0].status = StatusWrite::none;
  const std::string swapped = roles_of(c);
  EXPECT_LT(swapped.find("delete"), swapped.find("\"edge\""));
  EXPECT_EQ(swapped.find("status"), std::string::npos);
}

TEST(FederationRights, OfNamespacesAreRolesInEach) {
  Configuration c = configuration();
  Rules rules;
  rules.resource = {"", "v1", "configmaps"};
  rules.status = StatusWrite::none;
  c.resources = {rules};
  c.namespaces = {"a", "b"};
  const std::string roles = roles_of(c);
  for (const char* ns : {"a", "b"}) {
    EXPECT_NE(roles.find(std::string("kind: Role\nmetadata:\n  name: davit-federation\n  "
                                     "namespace: ") +
                         ns + "\n"),
              std::string::npos)
        << roles;
  }
}

TEST(FederationRights, OfANameAndOfDefinitionsAreThoseOfTheirSide) {
  Configuration c = configuration();
  c.site.robot_name = "r1";
  c.claim_namespace = "claims";
  c.definitions = "downstream";
  const std::string roles = roles_of(c);
  const size_t edge = roles.find("\"edge\"");
  EXPECT_LT(roles.find("namespace: claims"), edge);
  EXPECT_LT(roles.find("[list, watch, create, update]"), edge);
  EXPECT_GT(roles.find("customresourcedefinitions"), edge);
  EXPECT_NE(roles.find("davit federation check"), std::string::npos);
}

}  // namespace
}  // namespace davit::federation

// Entries of the setting `kinds`, the names of resources, and the order of applying.
#include <gtest/gtest.h>

#include "allowed_kind.hpp"

namespace davit::manifest {
namespace {

TEST(AllowedKind, IsGroupVersionAndKind) {
  const auto deployment = read_allowed_kind("apps/v1/Deployment");
  ASSERT_TRUE(deployment.ok());
  EXPECT_EQ(deployment->group + " " + deployment->version + " " + deployment->kind + " " +
                deployment->resource,
            "apps v1 Deployment deployments");
  EXPECT_EQ(deployment->text(), "apps/v1/Deployment");
  const auto core = read_allowed_kind("v1/ConfigMap");
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->group + core->api_version() + core->resource, "v1configmaps");
  const auto given = read_allowed_kind("example.com/v1/Ox=oxen");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->resource, "oxen");
}

TEST(AllowedKind, FindsTheResourceOfEachKindOfKubernetes) {
  const std::pair<const char*, const char*> rows[] = {
      {"Ingress", "ingresses"},
      {"NetworkPolicy", "networkpolicies"},
      {"Endpoints", "endpoints"},
      {"EndpointSlice", "endpointslices"},
      {"PodDisruptionBudget", "poddisruptionbudgets"},
      {"ControllerRevision", "controllerrevisions"},
      {"ServiceAccount", "serviceaccounts"},
      {"CSIStorageCapacity", "csistoragecapacities"},
      {"Gateway", "gateways"},
      {"Mesh", "meshes"},
      {"Lease", "leases"},
  };
  for (const auto& [kind, resource] : rows) EXPECT_EQ(resource_of(kind), resource);
}

TEST(AllowedKind, SaysWhatIsWrongWithAnEntry) {
  const std::pair<const char*, const char*> rows[] = {
      {"Deployment", "must be GROUP/VERSION/KIND"},
      {"a/b/c/D", "must be GROUP/VERSION/KIND"},
      {"apps/v1/deployment", "has a kind that is no name of one"},
      {"Apps/v1/Deployment", "has a group that must be a DNS name"},
      {"apps/V1/Deployment", "has a version that must be a DNS label"},
      {"v1/Ox=O x", "has a resource that must be a DNS name"},
      {"v1/Namespace", "is not of a namespace"},
      {"rbac.authorization.k8s.io/v1/ClusterRole", "is not of a namespace"},
  };
  for (const auto& [text, fault] : rows) {
    const auto kind = read_allowed_kind(text);
    ASSERT_FALSE(kind.ok()) << text;
    EXPECT_TRUE(kind.error().message.starts_with("\"" + std::string(text) + "\" " + fault))
        << kind.error().message;
  }
}

TEST(AllowedKind, ComesBeforeWhatNeedsIt) {
  const std::pair<const char*, const char*> sorted[] = {
      {"", "ServiceAccount"},
      {"rbac.authorization.k8s.io", "Role"},
      {"rbac.authorization.k8s.io", "RoleBinding"},
      {"", "ConfigMap"},
      {"", "Secret"},
      {"", "Service"},
      {"example.com", "Widget"},
      {"apps", "Deployment"},
      {"batch", "Job"},
      {"networking.k8s.io", "Ingress"},
  };
  int before = -1;
  for (const auto& [group, kind] : sorted) {
    EXPECT_GT(rank_of(group, kind), before) << kind;
    before = rank_of(group, kind);
  }
  EXPECT_EQ(rank_of("example.com", "Deployment"), rank_of("example.com", "Widget"));
}

}  // namespace
}  // namespace davit::manifest

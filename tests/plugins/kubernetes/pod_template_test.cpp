// What a site's settings make of pods and labels.
#include "kubernetes/pod_template.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>
#include <davit/testing/host.hpp>

#include "kubernetes/labels.hpp"

namespace davit::kubernetes {
namespace {

namespace json = boost::json;
using testing::Config;
using testing::TestHost;

TEST(Placement, IsTheFallbackWhereTheSiteSaysNothing) {
  const TestHost host("kind", {}, TestHost::Time::manual);
  const Placement p =
      read_placement(Settings(host.host()), {"gvisor", {{"pool", "Equal", "x", "NoSchedule"}}});
  json::object spec = begin_pod_spec(p);
  spec["between"] = true;
  add_placement(spec, p, "id", "d_1");
  EXPECT_EQ(
      json::serialize(spec),
      R"({"runtimeClassName":"gvisor","restartPolicy":"Always","between":true,"tolerations":)"
      R"([{"key":"pool","operator":"Equal","value":"x","effect":"NoSchedule"}],)"
      R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone",)"
      R"("whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"id":"d_1"}}}]})");
}

TEST(Placement, LeavesOutWhatTheSiteHasNotGot) {
  const TestHost host("kind", {{"runtime_class", ""}, {"image_pull_secrets", {"registry"}}},
                      TestHost::Time::manual);
  json::object spec = begin_pod_spec({});
  add_placement(spec, read_placement(Settings(host.host()), {"gvisor", {}}), "id", "d_1");
  EXPECT_FALSE(spec.contains("runtimeClassName"));
  EXPECT_FALSE(spec.contains("tolerations"));
  EXPECT_EQ(json::serialize(spec.at("imagePullSecrets")), R"([{"name":"registry"}])");
}

TEST(Placement, IsRefusedWhenNoObjectCanHaveTheName) {
  const TestHost host("kind", {{"runtime_class", "a b"}, {"image_pull_secrets", {"A"}}},
                      TestHost::Time::manual);
  read_placement(Settings(host.host()), {});
  ASSERT_EQ(host.faults().size(), 2u);
  EXPECT_TRUE(host.faults()[0].starts_with("test.toml:1: plugin.kind.runtime_class: must be a DNS"))
      << host.faults()[0];
  EXPECT_TRUE(host.faults()[1].find("image_pull_secrets: must be a DNS") != std::string::npos)
      << host.faults()[1];
}

TEST(Placement, NeedsTheRuntimeClassThatIsSet) {
  std::vector<kind::Need> needs;
  add_needs({}, needs);
  EXPECT_TRUE(needs.empty());
  add_needs({"kata", {}}, needs);
  ASSERT_EQ(needs.size(), 1u);
  EXPECT_EQ(needs[0].resource + "/" + needs[0].name, "runtimeclasses/kata");
}

TEST(Labels, AreTheSites) {
  const TestHost host("kind", {{"managed_by", "davit"}, {"label_prefix", ""}},
                      TestHost::Time::manual);
  const Labels l = read_labels(Settings(host.host()));
  EXPECT_EQ(host.faults(), std::vector<std::string>{});
  EXPECT_EQ(l.id("web.id"), "web.id");
  EXPECT_EQ(l.selector(), "app.kubernetes.io/managed-by=davit");
  EXPECT_EQ(l.selector("web"), l.selector() + ",app.kubernetes.io/component=web");
  json::object own{{"a", "b"}};
  l.add_managed(own, "web");
  EXPECT_EQ(
      json::serialize(own),
      R"({"a":"b","app.kubernetes.io/managed-by":"davit","app.kubernetes.io/component":"web"})");
}

TEST(Resources, AreLimitsAndRequestsInCanonicalForm) {
  EXPECT_EQ(json::serialize(resources({1000, 1024}, {250, 256})),
            R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"250m","memory":"256Mi"}})");
}

}  // namespace
}  // namespace davit::kubernetes

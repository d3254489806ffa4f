// The kinds' plugins as they are loaded: what their settings make of what they declare, and where a
// sentinel's platform comes from.
#include <gtest/gtest.h>

#include <optional>

#include <davit/kind.hpp>
#include <davit/testing/module.hpp>

#include "../watcher/fake_rpc.hpp"

namespace davit::sentinel {
namespace {

using testing::Instance;
using testing::Loaded;
using testing::TestHost;

// An instance of a plugin, created and wired.
struct Made {
  Made(const char* file, const testing::Config& settings, bool with_server = false)
      : loaded(*Loaded::open(file)), host("kind", settings) {
    if (with_server) rpc.emplace(host, "davit.v1");
    instance.emplace(loaded.plugin(), host);
    const auto created = instance->create();
    EXPECT_TRUE(created.ok()) << created.error().message;
    const auto wired = instance->wire();
    EXPECT_TRUE(wired.ok()) << wired.error().message;
    client = kind::Client(instance->ref(DAVIT_KIND));
  }
  std::string resources() const {
    std::string out;
    for (const auto& r : client.description().resources) out += r.resource + " ";
    return out;
  }

  Loaded loaded;
  TestHost host;
  std::optional<testing::FakeRpc> rpc;
  std::optional<Instance> instance;
  kind::Client client;
};

TEST(KindPlugins, DeclareNothingThatTheSiteHasTurnedOff) {
  EXPECT_EQ(Made(KIND_SENTINEL, {}).resources(),
            "namespaces deployments services pods poddisruptionbudgets ciliumnetworkpolicies ");
  EXPECT_EQ(Made(KIND_SENTINEL, {{"gossip_policy", false}}).resources(),
            "namespaces deployments services pods poddisruptionbudgets ");
  EXPECT_EQ(Made(KIND_SENTINEL, {{"disruption_budget", false}}).resources(),
            "namespaces deployments services pods ciliumnetworkpolicies ");
  EXPECT_EQ(Made(KIND_DEPLOYMENT, {}).resources(),
            "namespaces replicasets pods horizontalpodautoscalers ");
  EXPECT_EQ(Made(KIND_DEPLOYMENT, {{"autoscaling", false}}).resources(),
            "namespaces replicasets pods ");
}

std::string rendered(const Made& made) {
  const char* input = R"({"record":{"id":"s_1","region":"eu","namespace":"sentinel","name":"edge"},
    "desired":{"k8s_name":"edge","workspace_id":"ws_1","project_id":"proj_1","environment_id":"env_1",
      "sentinel_id":"s_1","image":"sentinel:1","replicas":1,"cpu_millicores":"250","memory_mib":"256"},
    "observed":[]})";
  const auto plan = made.client.reconcile(input);
  EXPECT_TRUE(plan.ok());
  return plan.ok() ? *plan : "";
}
bool names(const Made& made, const std::string& platform) {
  return rendered(made).find("platform = \\\"" + platform + "\\\"") != std::string::npos;
}

TEST(KindPlugins, NameThePlatformOfTheServer) {
  EXPECT_TRUE(names(Made(KIND_SENTINEL, {{"server", "control"}}, true), "aws"));
  EXPECT_TRUE(
      names(Made(KIND_SENTINEL, {{"server", "control"}, {"platform", "gcp"}}, true), "gcp"));
  EXPECT_TRUE(names(Made(KIND_SENTINEL, {{"platform", "gcp"}}), "gcp"));
  EXPECT_EQ(rendered(Made(KIND_SENTINEL, {})).find("platform"), std::string::npos);
}

TEST(KindPlugins, NameTheMetricsPortThatTheContainerHas) {
  const std::string plan = rendered(Made(KIND_SENTINEL, {{"metrics_port", 9191}}));
  EXPECT_NE(plan.find("prometheus_port = 9191\\n"), std::string::npos) << plan;
}

}  // namespace
}  // namespace davit::sentinel

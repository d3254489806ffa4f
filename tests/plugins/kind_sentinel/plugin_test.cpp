// The kinds' plugins as they are loaded: what their settings make of what they declare, and where a
// sentinel's platform comes from.
#include <gtest/gtest.h>

#include <optional>

#include <boost/json.hpp>
#include <davit/kind.hpp>
#include <davit/testing/module.hpp>

#include "../kind_deployment/message.hpp"
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

TEST(KindPlugins, GiveSentinelsTheAnnotationsThatAreSetInPlaceOfTheirOwn) {
  const std::string usual = rendered(Made(KIND_SENTINEL, {}));
  EXPECT_NE(usual.find("reloader.stakater.com/auto"), std::string::npos) << usual;
  const std::string plan = rendered(Made(KIND_SENTINEL, {{"pod_annotations.team", "edge"}}));
  EXPECT_NE(plan.find(R"("team":"edge")"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("reloader.stakater.com/auto"), std::string::npos) << plan;
}

// Objects could not be labelled so, and a selector with it would find none.
TEST(KindPlugins, RefuseLabelsThatNoObjectCanHave) {
  for (const char* file : {KIND_CILIUM_NETWORK_POLICY, KIND_DEPLOYMENT, KIND_SENTINEL}) {
    for (const auto& [key, value] : {std::pair{"managed_by", ""},
                                     {"managed_by", "a b"},
                                     {"managed_by", "a,b=c"},
                                     {"label_prefix", "/"},
                                     {"label_prefix", "example.com"},
                                     {"label_prefix", "a b/"}}) {
      const auto module = *Loaded::open(file);
      TestHost host("kind", {{key, value}});
      const auto created = Instance(module.plugin(), host).create();
      ASSERT_FALSE(created.ok()) << file << " " << key << " " << value;
      EXPECT_NE(created.error().message.find(key), std::string::npos) << created.error().message;
    }
  }
}

// --- of a deployment

namespace json = boost::json;

json::value planned(const Made& made, const json::object& desired, const json::array& observed,
                    int64_t now_unix_ms) {
  const json::object input{
      {"record", {{"id", "d_1"}, {"namespace", "acme"}, {"name", "web"}, {"version", "17"}}},
      {"desired", desired},
      {"observed", observed},
      {"now_unix_ms", now_unix_ms}};
  const auto plan = made.client.reconcile(json::serialize(input));
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return plan.ok() ? json::parse(*plan) : json::value();
}

// A pod of an older template as it is seen a minute after it was made.
json::value minute_after_a_stale_pod(const Made& made) {
  constexpr int64_t now_ms = 120'000;
  const json::value first = planned(made, deployment::test::minimal(), {}, now_ms);
  const json::value replica_set = first.at_pointer("/apply/1/object");
  EXPECT_EQ(replica_set.at("kind"), "ReplicaSet");
  const json::object pod{{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata",
                          {{"name", "web-a"},
                           {"namespace", "acme"},
                           {"creationTimestamp", "1970-01-01T00:01:00Z"},
                           {"annotations", {{"davit.dev/template-hash", "older"}}}}},
                         {"spec", {{"containers", json::array()}}},
                         {"status", {{"phase", "Pending"}}}};
  return planned(made, deployment::test::minimal(), {replica_set, pod}, now_ms);
}

TEST(KindPlugins, LeaveAStalePodAloneForReplaceAfter) {
  const json::value old_enough =
      minute_after_a_stale_pod(Made(KIND_DEPLOYMENT, {{"replace_after_s", 60}}));
  EXPECT_EQ(old_enough.at_pointer("/delete/0/name"), "web-a") << old_enough;
  const json::value too_young =
      minute_after_a_stale_pod(Made(KIND_DEPLOYMENT, {{"replace_after_s", 100}}));
  EXPECT_EQ(too_young.at("delete"), json::array()) << too_young;
  EXPECT_EQ(too_young.at("look_again_ms"), 40'000) << too_young;
}

TEST(KindPlugins, TakeAbsentReplicasForNoneWhereTheSiteSaysSo) {
  json::object desired = deployment::test::minimal();
  desired.erase("replicas");
  const std::string apply = json::serialize(desired);
  EXPECT_FALSE(Made(KIND_DEPLOYMENT, {}).client.validate(apply).ok());
  const Made made(KIND_DEPLOYMENT, {{"absent_replicas_is_zero", true}});
  EXPECT_TRUE(made.client.validate(apply).ok());
  const json::value plan = planned(made, desired, {}, 0);
  EXPECT_EQ(plan.at_pointer("/apply/1/object/spec/replicas"), 0) << plan;
}

TEST(KindPlugins, NameASettingThatIsWrong) {
  for (const auto& [file, key] : {std::pair{KIND_DEPLOYMENT, "replace_after_s"},
                                  {KIND_DEPLOYMENT, "absent_replicas_is_zero"},
                                  {KIND_SENTINEL, "pod_annotations"}}) {
    const auto module = *Loaded::open(file);
    TestHost host("kind", {{key, -1}});
    const auto created = Instance(module.plugin(), host).create();
    ASSERT_FALSE(created.ok()) << key;
    EXPECT_NE(created.error().message.find(key), std::string::npos) << created.error().message;
  }
}

}  // namespace
}  // namespace davit::sentinel

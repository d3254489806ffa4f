// The plugin as it is loaded: its settings change what it plans and reports.
#include <gtest/gtest.h>

#include <davit/kind.hpp>
#include <davit/testing/module.hpp>

#include "message.hpp"
#include "workload.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;
using davit::testing::Config;
using davit::testing::Instance;
using davit::testing::Loaded;
using davit::testing::TestHost;

const davit_plugin* plugin_as_loaded() {
  static const Loaded loaded = *Loaded::open(KIND_DEPLOYMENT);
  return loaded.plugin();
}

// What is planned for the smallest message, of which one pod is there.
json::value planned(const Config& settings) {
  TestHost host("deployment", settings, TestHost::Time::manual);
  Instance instance(plugin_as_loaded(), host);
  const auto created = instance.create();
  EXPECT_TRUE(created.ok()) << created.error().message;
  const json::object pod{{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata", {{"name", "web-a"}, {"namespace", "acme"}}},
                         {"status", {{"podIP", "10.1.2.3"}}}};
  const json::object input{{"desired", minimal()}, {"observed", json::array{pod}}};
  const auto plan = kind::Client(instance.ref(DAVIT_KIND)).reconcile(json::serialize(input));
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return json::parse(*plan);
}

TEST(DeploymentSettings, SecretsAsSaysWhatIsWatched) {
  const auto watches_secrets = [](const Config& settings) {
    TestHost host("deployment", settings, TestHost::Time::manual);
    Instance instance(plugin_as_loaded(), host);
    EXPECT_TRUE(instance.create().ok());
    const auto kind = kind::Client(instance.ref(DAVIT_KIND));
    bool found = false;
    for (const auto& r : kind.description().resources) found = found || r.resource == "secrets";
    return found;
  };
  EXPECT_TRUE(watches_secrets({{"secrets_as", "secret"}}));
  EXPECT_FALSE(watches_secrets({{"secrets_as", "encrypted_env"}}));
  EXPECT_FALSE(watches_secrets({}));
  TestHost host("deployment", {{"secrets_as", "plain"}}, TestHost::Time::manual);
  Instance instance(plugin_as_loaded(), host);
  EXPECT_TRUE(instance.create().error().message.ends_with(
      R"(secrets_as: must be "encrypted_env" or "secret")"));
}

TEST(DeploymentSettings, ControllersSayWhatIsWatched) {
  const auto watched = [](const Config& settings) {
    TestHost host("deployment", settings, TestHost::Time::manual);
    Instance instance(plugin_as_loaded(), host);
    EXPECT_TRUE(instance.create().ok());
    const auto kind = kind::Client(instance.ref(DAVIT_KIND));
    std::string out;
    for (const auto& r : kind.description().resources) out += r.resource + " ";
    return out;
  };
  EXPECT_EQ(watched({}), "namespaces replicasets pods horizontalpodautoscalers ");
  EXPECT_EQ(watched({{"controllers", {"deployment"}}}),
            "namespaces deployments pods horizontalpodautoscalers ");
  EXPECT_EQ(watched({{"controllers", {"replica_set", "stateful_set"}}, {"autoscaling", false}}),
            "namespaces replicasets statefulsets pods services ");
  EXPECT_EQ(watched({{"disruption_budget.max_unavailable", "1"}, {"autoscaling", false}}),
            "namespaces replicasets pods poddisruptionbudgets ");
}

TEST(DeploymentSettings, ControllersAndPaceMustFitTogether) {
  const auto faults = [](const Config& settings) {
    TestHost host("deployment", settings, TestHost::Time::manual);
    read_site(host);
    std::string out;
    for (const auto& fault : host.faults())
      out += fault.substr(fault.find("deployment.") + 11) + "\n";
    return out;
  };
  EXPECT_EQ(
      faults({{"controllers", {"deployment", "job"}}}),
      "controllers: must be \"replica_set\", \"deployment\" or \"stateful_set\", not \"job\"\n");
  EXPECT_EQ(faults({{"controllers", {"deployment", "deployment"}}}),
            "controllers: has \"deployment\" twice\n");
  EXPECT_EQ(faults({{"controllers", std::vector<std::string>{}}}),
            "controllers: must name at least one\n");
  EXPECT_NE(faults({{"controllers", {"deployment"}}, {"replace_stale", false}}), "");
  EXPECT_EQ(faults({{"controllers", {"stateful_set"}}, {"replace_stale", false}}), "");
  EXPECT_EQ(faults({{"max_unavailable", 0}}),
            "max_unavailable: must be at least 1 without max_surge\n");
  EXPECT_EQ(faults({{"max_unavailable", 0}, {"max_surge", 1}}), "");
  EXPECT_EQ(
      faults({{"disruption_budget.min_available", "half"}}),
      "disruption_budget.min_available: must be a number of pods (\"1\") or a share (\"50%\"), "
      "not \"half\"\n");
  EXPECT_EQ(faults({{"disruption_budget.min_available", "1"},
                    {"disruption_budget.max_unavailable", "1"}}),
            "disruption_budget.max_unavailable: must not be set beside min_available\n");
}

TEST(DeploymentSettings, PullSecretsAreCheckedOneByOne) {
  const auto fault = [](const Config& pull, const Config& more = {}) {
    Config settings = more;
    settings.set({"pull_secrets", std::vector<Config>{pull}});
    TestHost host("deployment", settings, TestHost::Time::manual);
    Instance instance(plugin_as_loaded(), host);
    const auto created = instance.create();
    return created.ok() ? std::string("ok") : created.error().message;
  };
  EXPECT_EQ(fault({{"name", "registry"}, {"ref", "a/b"}}), "ok");
  EXPECT_TRUE(fault({{"name", "registry"}}).ends_with("key \"ref\": is missing (a string)"));
  EXPECT_TRUE(fault({{"name", "registry"}, {"ref", ""}}).ends_with("ref: must not be empty"));
  EXPECT_NE(fault({{"name", "No Name"}, {"ref", "a/b"}}), "ok");
  EXPECT_TRUE(fault({{"name", "registry"}, {"ref", "a/b"}}, {{"image_pull_secrets", {"registry"}}})
                  .ends_with("is there twice, or in image_pull_secrets, too"));
}

TEST(DeploymentSettings, PodsPreferToBeNearThoseOfSentinelNamespace) {
  const json::value plan = planned({{"sentinel_namespace", "gates"}});
  const json::value* namespaces = nullptr;
  for (const auto& step : plan.at("apply").as_array()) {
    if (step.at_pointer("/object/kind") != "ReplicaSet") continue;
    namespaces = &step.at_pointer(
        "/object/spec/template/spec/affinity/podAffinity"
        "/preferredDuringSchedulingIgnoredDuringExecution/0/podAffinityTerm"
        "/namespaces");
  }
  ASSERT_NE(namespaces, nullptr);
  EXPECT_EQ(*namespaces, json::array{"gates"});
}

TEST(DeploymentSettings, PodsAreReportedUnderTheAddressThatInstanceAddressSays) {
  const std::pair<Config, const char*> rows[] = {
      {{}, "10-1-2-3.acme.pod.cluster.local:8080"},
      {{{"instance_address", "dns"}}, "10-1-2-3.acme.pod.cluster.local:8080"},
      {{{"cluster_domain", "k8s.example"}}, "10-1-2-3.acme.pod.k8s.example:8080"},
      {{{"instance_address", "dns"}, {"cluster_domain", "k8s.example"}},
       "10-1-2-3.acme.pod.k8s.example:8080"},
      {{{"instance_address", "ip"}}, "10.1.2.3:8080"},
      {{{"instance_address", "ip"}, {"cluster_domain", "k8s.example"}}, "10.1.2.3:8080"},
  };
  for (const auto& [settings, address] : rows)
    EXPECT_EQ(planned(settings).at_pointer("/status/children/0/address"), json::value(address));
}

TEST(DeploymentSettings, PodIsOfTheSiteUnlessTheRecordSaysOtherwise) {
  const Config settings{{"pod.pod_security", "restricted"}, {"pod.priority_class", "tenants"}};
  TestHost host("deployment", settings, TestHost::Time::manual);
  const Site site = read_site(host);
  EXPECT_EQ(host.faults(), std::vector<std::string>{});
  json::object message = minimal();
  message["pod"] = {{"no_new_privileges", false}, {"priority_class", ""}};
  const auto pod = read_workload(message, site)->pod;
  EXPECT_TRUE(pod.security.run_as_non_root);
  EXPECT_FALSE(pod.security.no_new_privileges);
  EXPECT_EQ(pod.priority_class, "");
}

TEST(DeploymentSettings, PodIsCheckedLikeARecords) {
  const Config settings{{"pod.pod_security", "safe"},
                        {"pod.affinity", "near"},
                        {"pod.node_selector.-pool", "x"},
                        {"pod.priorityclass", "tenants"}};
  TestHost host("deployment", settings, TestHost::Time::manual);
  read_site(host);
  const auto fault = [](const char* line, const char* what) {
    return "test.toml:" + std::string(line) + ": plugin.deployment.pod." + what;
  };
  EXPECT_EQ(host.faults(),
            (std::vector<std::string>{
                fault("2", "affinity: must be a JSON object in a string"),
                fault("1", R"(pod_security: must be "restricted" or "unrestricted")"),
                fault("3",
                      "node_selector: must be a label's key, such as \"team\" or "
                      "\"example.com/team\", not \"-pool\""),
                fault("4", "priorityclass: unknown key")}));
}

TEST(DeploymentSettings, WhatCannotWorkIsRefused) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"sentinel_namespace", "a.b",
       "must be a DNS label (at most 63 lower-case letters, digits and \"-\"), not \"a.b\""},
      {"cluster_domain", "a..b",
       "must be a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\"), not "
       "\"a..b\""},
      {"instance_address", "name", "must be \"dns\" or \"ip\""},
  };
  for (const auto& [key, value, fault] : rows) {
    TestHost host("deployment", {{key, value}}, TestHost::Time::manual);
    EXPECT_FALSE(Instance(plugin_as_loaded(), host).create().ok());
    EXPECT_EQ(host.faults(), std::vector<std::string>{"test.toml:1: plugin.deployment." +
                                                      std::string(key) + ": " + fault});
  }
}

}  // namespace
}  // namespace davit::deployment::test

// The plugin as it is loaded: its settings change what it watches, takes and says.
#include <davit/kind_needs.hpp>
#include <davit/testing/module.hpp>

#include "message.hpp"

namespace davit::manifest::test {
namespace {

using davit::testing::Config;
using davit::testing::Instance;
using davit::testing::Loaded;
using davit::testing::TestHost;

const davit_plugin* plugin_as_loaded() {
  static const Loaded loaded = *Loaded::open(KIND_MANIFEST);
  return loaded.plugin();
}

struct Made {
  explicit Made(const Config& settings)
      : host("manifest", settings, TestHost::Time::manual), instance(plugin_as_loaded(), host) {
    const auto created = instance.create();
    EXPECT_TRUE(created.ok()) << created.error().message;
    client = kind::Client(instance.ref(DAVIT_KIND));
  }
  TestHost host;
  Instance instance;
  kind::Client client;
};

std::vector<std::string> faults_of(const Config& settings) {
  TestHost host("manifest", settings, TestHost::Time::manual);
  EXPECT_FALSE(Instance(plugin_as_loaded(), host).create().ok());
  return host.faults();
}

using Texts = std::vector<std::string>;

TEST(ManifestSettings, KindsAreWhatIsWatchedAndTaken) {
  const Made made({{"kinds", Texts{"v1/ConfigMap", "example.com/v1/Ox=oxen"}}});
  std::string watched;
  for (const auto& r : made.client.description().resources)
    watched += r.resource + "." + r.group + "/" + r.version + "[" + r.selector + "] ";
  EXPECT_EQ(watched,
            "namespaces./v1[] configmaps./v1[davit.dev/manifest] "
            "oxen.example.com/v1[davit.dev/manifest] ");
  EXPECT_TRUE(made.client.validate(json::serialize(message({config_map("a")}))).ok());
  EXPECT_FALSE(made.client.validate(json::serialize(message({object("v1", "Service", "a")}))).ok());
}

TEST(ManifestSettings, WithoutKindsNoSecretsAndNoRolesAreTaken) {
  const Made made({});
  for (const auto& r : made.client.description().resources) {
    EXPECT_NE(r.kind, "Secret");
    EXPECT_NE(r.group, "rbac.authorization.k8s.io");
  }
  EXPECT_EQ(made.client.description().resources.size(), 14u);
}

TEST(ManifestSettings, NamespacesAreThoseThatManifestsMayUse) {
  const json::object m = message({config_map("a")});
  EXPECT_TRUE(Made({{"namespaces", Texts{"shop"}}}).client.validate(json::serialize(m)).ok());
  const auto r = Made({{"namespaces", Texts{"other"}}}).client.validate(json::serialize(m));
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().where + ": " + r.error().message,
            "namespace: \"shop\" is not among the `namespaces` that manifests may use here");
}

TEST(ManifestSettings, KeyringsAreThoseThatManifestsMayUse) {
  const json::object m = message({object(
      "v1", "Secret", "s",
      {{"secrets",
        json::array{{{"key", "A"}, {"decrypt", {{"keyring", "k"}, {"ciphertext", "c"}}}}}}})});
  Config settings{{"kinds", Texts{"v1/Secret"}}};
  EXPECT_FALSE(Made(settings).client.validate(json::serialize(m)).ok());
  settings.set({"keyrings", Texts{"k"}});
  EXPECT_TRUE(Made(settings).client.validate(json::serialize(m)).ok());
}

TEST(ManifestSettings, AnIngressNeedsAnAddressUnlessToldOtherwise) {
  const json::object m = message({object("networking.k8s.io/v1", "Ingress", "web")});
  const auto health = [&](const Config& settings) {
    const Made made(settings);
    const auto plan = [&](const json::array& observed) {
      return json::parse(*made.client.reconcile(
          json::serialize(json::object{{"desired", m}, {"observed", observed}})));
    };
    return plan(landed(plan({}).as_object())).at("status").at("health");
  };
  EXPECT_EQ(health({}), "progressing");
  EXPECT_EQ(health({{"ingress_needs_address", false}}), "healthy");
}

TEST(ManifestSettings, EachKindIsANeedThatCanBeDoneWithout) {
  const Made made({{"kinds", Texts{"apps/v1/Deployment"}}});
  std::string said;
  Visitor visitor(
      [&](const davit_kind_need& n) { said += text(n.resource) + ": " + text(n.setting); });
  const auto ref = made.instance.ref(DAVIT_KIND_NEEDS);
  static_cast<const davit_kind_needs*>(ref.vtable)->needs(ref.self, visitor, &visitor);
  EXPECT_EQ(said, "deployments: kinds = [...] without \"apps/v1/Deployment\"");
}

TEST(ManifestSettings, WhatCannotWorkIsRefused) {
  const std::tuple<const char*, Texts, const char*> rows[] = {
      {"kinds", {}, "must name at least one kind, such as \"v1/ConfigMap\""},
      {"kinds",
       {"v1/ConfigMap", "v1/Namespace"},
       "\"v1/Namespace\" is not of a namespace; a manifest has objects of one namespace only"},
      {"kinds",
       {"apps/v1/Deployment", "apps/v1beta1/Deployment"},
       "\"apps/v1beta1/Deployment\" and \"apps/v1/Deployment\" are the same resource: keep one of "
       "them"},
      {"namespaces",
       {"A"},
       "must be a DNS label (at most 63 lower-case letters, digits and \"-\"), not \"A\""},
  };
  for (const auto& [key, value, fault] : rows)
    EXPECT_EQ(faults_of({{key, value}}),
              Texts{"test.toml:1: plugin.manifest." + std::string(key) + ": " + fault});
}

TEST(ManifestSettings, StatesAreRunningOrNot) {
  const Made made({});
  EXPECT_EQ(*made.client.classify("running", ""), kind::Class::apply);
  for (const char* state : {"archived", "stopped"})
    EXPECT_EQ(*made.client.classify(state, ""), kind::Class::remove);
  EXPECT_EQ(*made.client.classify("paused", ""), kind::Class::unhandled);
}

}  // namespace
}  // namespace davit::manifest::test

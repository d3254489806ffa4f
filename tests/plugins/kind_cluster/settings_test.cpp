// The plugin as it is loaded: what it says of itself, and its setting.
#include <davit/testing/module.hpp>

#include "message.hpp"

namespace davit::cluster_record::test {
namespace {

using davit::testing::Config;
using davit::testing::Instance;
using davit::testing::Loaded;
using davit::testing::TestHost;
using Texts = std::vector<std::string>;

const davit_plugin* plugin_as_loaded() {
  static const Loaded loaded = *Loaded::open(KIND_CLUSTER);
  return loaded.plugin();
}

struct Made {
  explicit Made(const Config& settings)
      : host("fleet", settings, TestHost::Time::manual), instance(plugin_as_loaded(), host) {
    const auto created = instance.create();
    EXPECT_TRUE(created.ok()) << created.error().message;
    client = kind::Client(instance.ref(DAVIT_KIND));
  }
  TestHost host;
  Instance instance;
  kind::Client client;
};

TEST(ClusterSettings, ClustersAreWatchedByTheirMark) {
  const Made made({});
  std::string watched;
  for (const auto& r : made.client.description().resources)
    watched += r.resource + "." + r.group + "/" + r.version + "[" + r.selector + "] ";
  EXPECT_EQ(watched, "namespaces./v1[] clusters.cluster.k8s.io/v1alpha1[davit.dev/cluster] ");
}

TEST(ClusterSettings, NamespacesAreThoseThatClustersMayBeIn) {
  const std::string m = json::serialize(message());
  EXPECT_TRUE(Made({}).client.validate(m).ok());
  EXPECT_TRUE(Made({{"namespaces", Texts{"other", "fleet"}}}).client.validate(m).ok());
  const auto r = Made({{"namespaces", Texts{"other"}}}).client.validate(m);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().where + ": " + r.error().message,
            "namespace: \"fleet\" is not among the `namespaces` that clusters may be in here");
}

TEST(ClusterSettings, ANamespaceThatNoneCanBeIsRefused) {
  TestHost host("fleet", Config{{"namespaces", Texts{"A"}}}, TestHost::Time::manual);
  EXPECT_FALSE(Instance(plugin_as_loaded(), host).create().ok());
  EXPECT_EQ(host.faults(),
            Texts{"test.toml:1: plugin.fleet.namespaces: must be a DNS label (at most 63 "
                  "lower-case letters, digits and \"-\"), not \"A\""});
}

TEST(ClusterSettings, StatesAreRunningOrNot) {
  const Made made({});
  EXPECT_EQ(*made.client.classify("running", ""), kind::Class::apply);
  for (const char* state : {"archived", "stopped"})
    EXPECT_EQ(*made.client.classify(state, ""), kind::Class::remove);
  EXPECT_EQ(*made.client.classify("paused", ""), kind::Class::unhandled);
}

}  // namespace
}  // namespace davit::cluster_record::test

// The plugin as it is loaded: its settings change what it does.
#include <gtest/gtest.h>

#include <davit/cluster.hpp>
#include <davit/testing/module.hpp>

namespace davit::cluster_memory {
namespace {

using testing::Instance;
using testing::Loaded;
using testing::TestHost;

const cluster::Resource config_maps{"", "v1", "configmaps"};

const davit_plugin* plugin_as_loaded() {
  static const Loaded loaded = *Loaded::open(CLUSTER_MEMORY);
  return loaded.plugin();
}

void apply(const cluster::Client& client, int value) {
  cluster::Request q;
  q.verb = DAVIT_VERB_APPLY;
  q.resource = config_maps;
  q.ns = "default";
  q.name = "a";
  q.query = {{"fieldManager", "test"}};
  q.body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"v":")" +
           std::to_string(value) + "\"}}";
  client.request(q, [](const cluster::Response& r) { EXPECT_EQ(r.code, Code::ok) << r.message; });
}

std::string sign_of(int32_t type) {
  switch (type) {
    case DAVIT_WATCH_RESTART:
      return "RESTART ";
    case DAVIT_WATCH_SYNCED:
      return "SYNCED ";
    case DAVIT_WATCH_ADDED:
      return "+ ";
    default:
      return "* ";
  }
}

// What a watch of one object shows that gets credit only after so many changes.
std::string seen_after(int changes, const testing::Config& settings) {
  TestHost host("cluster", settings, TestHost::Time::manual);
  Instance instance(plugin_as_loaded(), host);
  EXPECT_TRUE(instance.create().ok());
  const cluster::Client client(instance.ref(DAVIT_CLUSTER));
  apply(client, 0);
  std::string seen;
  cluster::WatchRequest q;
  q.resource = config_maps;
  auto watch =
      *client.watch(q, 3, {[&](int32_t type, std::string_view) { seen += sign_of(type); }, [] {}});
  host.run();
  EXPECT_EQ(seen, "RESTART + SYNCED ");
  for (int value = 1; value <= changes; ++value) apply(client, value);
  host.run();
  EXPECT_EQ(std::exchange(seen, ""), "RESTART + SYNCED ") << "there is no credit";
  watch.credit(100);
  host.run();
  watch.cancel();
  host.run();
  return seen;
}

TEST(ClusterMemorySettings, AWatchBeginsAnewWhenMoreWaitThanWatchQueueMax) {
  for (const int most : {1, 3}) {
    const testing::Config settings{{"watch_queue_max", most}};
    std::string each;
    for (int i = 0; i < most; ++i) each += "* ";
    EXPECT_EQ(seen_after(most, settings), each);
    EXPECT_EQ(seen_after(most + 1, settings), "RESTART + SYNCED ") << most;
  }
}

TEST(ClusterMemorySettings, WhatCannotWorkIsRefused) {
  TestHost host("cluster", {{"watch_queue_max", 0}}, TestHost::Time::manual);
  EXPECT_FALSE(Instance(plugin_as_loaded(), host).create().ok());
  EXPECT_EQ(host.faults(),
            std::vector<std::string>{"test.toml:1: plugin.cluster.watch_queue_max: must be between "
                                     "1 and 10000000, not 0"});
}

}  // namespace
}  // namespace davit::cluster_memory

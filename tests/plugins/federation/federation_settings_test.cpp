// Federation as it is loaded, with other settings than the defaults.
#include "world.hpp"

namespace davit::federation::test {
namespace {

// A world without annotations, in which the configuration names robots.
testing::Config named(testing::Config resource, testing::Config config = {}) {
  resource.set({"group", "g"});
  resource.set({"version", "v1"});
  resource.set({"resource", "robots"});
  config.set({"definitions", "none"});
  config.set({"resource", std::vector<testing::Config>{std::move(resource)}});
  return config;
}

// The faults of a configuration; empty: none.
std::string faults(testing::Config config) {
  config.set({"upstream", "cloud"});
  if (config.string("downstream").empty()) config.set({"downstream", "robot"});
  testing::TestHost host("federation", config);
  auto loaded = testing::Loaded::open(FEDERATION);
  EXPECT_TRUE(loaded.ok());
  testing::Instance instance(loaded->plugin(), host);
  const auto created = instance.create();
  return created.ok() ? "" : created.error().message;
}

TEST(FederationSettings, AResourceOfTheConfigurationMayGoUpAndReportASubtree) {
  World w("", true,
          named({{"direction", "up"}, {"status", "subresource"}, {"status_subtree", "cloud"}}));
  w.robot.make("a", 1);
  w.wait();
  EXPECT_EQ(w.cloud.spec("a"), "1");
  w.robot.edit("a", R"({"status":{"robot":"kept"}})", "status");
  w.cloud.edit("a", R"({"status":{"cloud":"seen","robot":"other"}})", "status");
  w.wait();
  EXPECT_EQ(w.robot.at("a", "/status/cloud"), "seen");
  EXPECT_EQ(w.robot.at("a", "/status/robot"), "kept");
}

TEST(FederationSettings, AStatusMayBeAFieldAndFieldsOthersThanTheSpec) {
  World w("", false, named({{"status", "field"}, {"fields", {"data"}}, {"namespaced", true}}));
  w.cloud.make("a", 1);
  w.cloud.edit("a", R"({"data":{"k":"v"}})");
  w.wait();
  EXPECT_EQ(w.robot.at("a", "/data/k"), "v");
  EXPECT_EQ(w.robot.spec("a"), "");
  w.robot.edit("a", R"({"status":{"s":"ready"}})");
  w.wait();
  EXPECT_EQ(w.cloud.status("a"), "ready");
}

TEST(FederationSettings, AdoptTakesOverWhatIsThere) {
  World w("", true, named({{"adopt", true}}));
  w.robot.make("a", 9);
  w.robot.make("orphan", 9);
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_TRUE(w.robot.get("orphan").is_null());
}

// What upstream says of a status whose observedGeneration is that of downstream.
std::string observed(const testing::Config& config) {
  World w(of_cloud, true, config);
  w.cloud.make("a", 1);
  w.wait();
  w.robot.set("a", 9);  // its repair is one more generation downstream
  w.wait();
  const std::string generation = w.robot.at("a", "/metadata/generation");
  EXPECT_NE(generation, w.cloud.at("a", "/metadata/generation"));
  w.robot.edit("a", R"({"status":{"observedGeneration":)" + generation + "}}", "status");
  w.wait();
  const std::string up = w.cloud.at("a", "/status/observedGeneration");
  return up == generation                                ? "downstream's"
         : up == w.cloud.at("a", "/metadata/generation") ? "upstream's"
                                                         : up;
}

TEST(FederationSettings, ObservedGenerationIsMappedOrCopied) {
  EXPECT_EQ(observed({}), "upstream's");
  EXPECT_EQ(observed({{"observed_generation", "copy"}}), "downstream's");
}

TEST(FederationSettings, DefinitionsMayBeThoseOfUpstream) {
  World w("", true, {{"definitions", "upstream"}});
  w.cloud.define(of_cloud);
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
}

TEST(FederationSettings, TheRestsAreThoseOfTheSettings) {
  World w(of_cloud, true, {{"retry_first_ms", 60'000}, {"retry_most_ms", 60'000}});
  w.robot.front->policy = [](const cluster::Request&) {
    auto r = refusal(500, "InternalError", "no");
    r.code = Code::internal;
    return std::optional(r);
  };
  w.cloud.make("a", 1);
  w.wait(10min);
  EXPECT_LE(w.robot.writes(), 22u);
  EXPECT_GE(w.robot.writes(), 9u);
}

TEST(FederationSettings, WhatIsMistypedIsAFault) {
  EXPECT_EQ(faults({}), "");
  EXPECT_NE(faults({{"downstream", "cloud"}}).find("another instance"), std::string::npos);
  EXPECT_NE(faults({{"definitions", "both"}}), "");
  EXPECT_NE(faults({{"observed_generation", "guess"}}), "");
  EXPECT_NE(faults({{"retry_first_ms", 9}, {"retry_most_ms", 5}}), "");
  EXPECT_EQ(faults(named({})), "");
  EXPECT_NE(faults(named({{"direction", "sideways"}})), "");
  EXPECT_NE(faults(named({{"status", "both"}})), "");
  EXPECT_NE(faults(named({{"fields", {"metadata"}}})), "");
}

}  // namespace
}  // namespace davit::federation::test

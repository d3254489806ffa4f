// Role cluster: watches.
#include "cluster.hpp"

namespace davit::conformance {
namespace {

using ClusterWatch = Cluster;

TEST_F(ClusterWatch, InitialEventsThenSyncedThenChanges) {
  apply("a", "{}");
  apply("b", "{}");
  Seen seen(client, watching(), 1000);
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  auto events = seen.events();
  ASSERT_EQ(events.size(), 4u) << seen.text();
  EXPECT_EQ(events.front(), "RESTART");
  EXPECT_EQ(events.back(), "SYNCED");
  std::sort(events.begin(), events.end());
  EXPECT_EQ(events, (std::vector<std::string>{"ADDED a", "ADDED b", "RESTART", "SYNCED"}));
  apply("c", "{}");
  apply("a", R"({"k":"v"})");
  call("delete", config_maps, ns, "b");
  ASSERT_TRUE(seen.wait_for("DELETED b")) << seen.text();
  events = seen.events();
  EXPECT_EQ((std::vector<std::string>{events.begin() + 4, events.end()}),
            (std::vector<std::string>{"ADDED c", "MODIFIED a", "DELETED b"}));
}

TEST_F(ClusterWatch, EventsCarryWholeObjects) {
  apply("a", R"({"k":"v"})");
  Seen seen(client, watching(), 1000);
  ASSERT_TRUE(seen.wait_for("ADDED a")) << seen.text();
  const auto o = parsed(seen.objects()[1]);
  ASSERT_TRUE(o.contains("kind") && o.contains("apiVersion")) << seen.objects()[1];
  EXPECT_EQ(o.at("kind"), "ConfigMap");
  EXPECT_EQ(o.at("apiVersion"), "v1");
  EXPECT_EQ(json::serialize(o.at("data")), R"({"k":"v"})");
}

TEST_F(ClusterWatch, MetadataOnlyLeavesTheRestOut) {
  apply("a", R"({"k":"v"})");
  auto q = watching();
  q.metadata_only = true;
  Seen seen(client, q, 1000);
  ASSERT_TRUE(seen.wait_for("ADDED a")) << seen.text();
  const auto o = parsed(seen.objects()[1]);
  EXPECT_EQ(o.at("kind"), "PartialObjectMetadata");
  EXPECT_FALSE(o.contains("data"));
}

TEST_F(ClusterWatch, LabelSelectorSeesObjectsComeAndGo) {
  apply("a", "{}", R"({"app":"other"})");
  apply("b", "{}", R"({"app":"web"})");
  Seen seen(client, watching("app=web"), 1000);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  EXPECT_EQ(seen.text(), "RESTART, ADDED b, SYNCED");
  apply("a", "{}", R"({"app":"web"})");
  ASSERT_TRUE(seen.wait_for("ADDED a")) << seen.text();
  apply("b", "{}", R"({"app":"other"})");
  ASSERT_TRUE(seen.wait_for("DELETED b")) << seen.text();
  EXPECT_EQ(seen.text(), "RESTART, ADDED b, SYNCED, ADDED a, DELETED b");
}

TEST_F(ClusterWatch, NothingComesWithoutCredit) {
  for (const char* name : {"a", "b", "c"}) apply(name, "{}");
  Seen seen(client, watching(), 2);
  ASSERT_TRUE(seen.wait_count(2));
  apply("d", "{}");  // takes some time, on a real cluster, too
  EXPECT_EQ(seen.events().size(), 2u) << seen.text();
  seen.credit(1);
  ASSERT_TRUE(seen.wait_count(3));
  apply("e", "{}");
  EXPECT_EQ(seen.events().size(), 3u) << seen.text();
  seen.credit(100);
  EXPECT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  EXPECT_TRUE(seen.wait_for("ADDED e")) << seen.text();
}

TEST_F(ClusterWatch, CancelIsAnsweredOnceAndLast) {
  Seen seen(client, watching(), 1000);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  EXPECT_TRUE(seen.cancel());
  apply("a", "{}");
  call("get", config_maps, ns, "a");
  EXPECT_EQ(seen.ended(), 1);
  EXPECT_FALSE(seen.late());
  EXPECT_EQ(seen.text(), "RESTART, SYNCED");
}

TEST_F(ClusterWatch, CancelAtOnceAndWithoutCreditWorks) {
  for (uint32_t credit : {0u, 1000u}) {
    Seen seen(client, watching(), credit);
    EXPECT_TRUE(seen.cancel());
    EXPECT_EQ(seen.ended(), 1);
  }
}

TEST_F(ClusterWatch, ContinuesFromAVersion) {
  const auto a = apply("a", "{}");
  apply("b", "{}");
  auto q = watching();
  q.resource_version = meta(a.body, "resourceVersion");
  Seen seen(client, q, 1000);
  ASSERT_TRUE(seen.wait_for("ADDED b")) << seen.text();
  EXPECT_EQ(seen.text(), "ADDED b");
}

}  // namespace
}  // namespace davit::conformance

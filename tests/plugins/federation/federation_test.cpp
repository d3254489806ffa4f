// Federation as it is loaded, between two simulated clusters: what both have in the end.
#include "world.hpp"

namespace davit::federation::test {
namespace {

TEST(Federation, SpecGoesDownAndStatusUp) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
  w.robot.report("a", "ready");
  w.wait();
  EXPECT_EQ(w.cloud.status("a"), "ready");
  w.cloud.set("a", 2);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "2");
  EXPECT_EQ(w.robot.status("a"), "ready");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(Federation, WithoutStatusSubresourceToo) {
  World w(of_cloud, false);
  w.cloud.make("a", 1);
  w.wait();
  w.robot.edit("a", R"({"status":{"s":"ready"}})");
  w.wait();
  EXPECT_EQ(w.cloud.status("a"), "ready");
  EXPECT_EQ(w.robot.spec("a"), "1");
  const size_t writes = w.cloud.writes() + w.robot.writes();
  w.wait(1h);
  EXPECT_EQ(w.cloud.writes() + w.robot.writes(), writes) << "one does not cause the next";
}

TEST(Federation, OfTheRobotGoesTheOtherWay) {
  World w(R"("cr-syncer.cloudrobotics.com/spec-source":"robot")");
  w.robot.make("a", 1);
  w.wait();
  EXPECT_EQ(w.cloud.spec("a"), "1");
  w.cloud.report("a", "seen");
  w.wait();
  EXPECT_EQ(w.robot.status("a"), "seen");
  w.cloud.remove("a");
  w.wait();
  EXPECT_EQ(w.cloud.spec("a"), "1");
}

TEST(Federation, DeletesDownstreamWhatIsDeletedUpstream) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  w.cloud.remove("a");
  w.wait();
  EXPECT_TRUE(w.robot.get("a").is_null());
}

TEST(Federation, MakesAgainWhatIsDeletedDownstream) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  w.robot.remove("a");
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
}

TEST(Federation, DeletesOrphansUnlessAFilterHidesThem) {
  World w;
  w.robot.make("orphan", 1);
  w.wait();
  EXPECT_TRUE(w.robot.get("orphan").is_null());

  World filter(filtered);
  filter.robot.make("local", 1);
  filter.robot.make("orphan", 1, for_r1);
  filter.wait();
  EXPECT_EQ(filter.robot.spec("local"), "1");
  EXPECT_TRUE(filter.robot.get("orphan").is_null());
}

TEST(Federation, OnlyTheRobotsOwnGoDownWithAFilter) {
  World w(filtered);
  w.cloud.make("mine", 1, for_r1);
  w.cloud.make("other", 1, R"("labels":{"cloudrobotics.com/robot-name":"r2"})");
  w.cloud.make("nobody", 1);
  w.wait();
  EXPECT_EQ(w.robot.spec("mine"), "1");
  EXPECT_TRUE(w.robot.get("other").is_null());
  EXPECT_TRUE(w.robot.get("nobody").is_null());
  w.cloud.edit("mine", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"r2"}}})");
  w.wait();
  EXPECT_TRUE(w.robot.get("mine").is_null()) << "it belongs to another robot now";
}

TEST(Federation, B3ALabelThatIsChangedDownstreamIsPutBack) {
  World w(filtered);
  w.cloud.make("a", 1, for_r1);
  w.wait();
  w.robot.edit("a", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"x"}}})");
  w.wait();
  EXPECT_EQ(w.robot.at("a", "/metadata/labels/cloudrobotics.com~1robot-name"), "r1");
  w.robot.report("a", "ready");
  w.wait();
  EXPECT_EQ(w.cloud.status("a"), "ready") << "it is watched again";
}

TEST(Federation, ANameThatIsTakenIsSaidAndLeftAlone) {
  World w(filtered);
  w.robot.make("a", 9);
  w.cloud.make("a", 1, for_r1);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "9");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_NE(w.host().health_reason().find("taken"), std::string::npos);
  const size_t before = w.robot.front->requests;
  w.wait(10min);
  EXPECT_LE(w.robot.front->requests - before, 80u) << "two requests each half minute";
  w.robot.remove("a");
  w.wait(1min);
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(Federation, WhatIsMadeAnewUpstreamIsMadeAnewDownstream) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  w.robot.report("a", "of before");
  w.wait();
  const std::string first = w.robot.uid("a");
  w.robot.leave();
  w.cloud.remove("a");
  w.cloud.make("a", 2);
  w.wait();
  w.robot.come_back();
  w.wait();
  EXPECT_NE(w.robot.uid("a"), first);
  EXPECT_EQ(w.robot.spec("a"), "2");
  EXPECT_EQ(w.cloud.status("a"), "") << "the status of the former is not that of this one";
}

TEST(Federation, NoStatusOfTheFormerWhileAFinalizerHoldsIt) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  w.robot.edit("a", R"({"metadata":{"finalizers":["x/y"]}})");
  w.robot.report("a", "of before");
  w.wait();
  w.cloud.remove("a");
  w.wait();
  w.cloud.make("a", 2);
  w.wait(1min);
  EXPECT_EQ(w.cloud.status("a"), "");
  EXPECT_EQ(w.robot.spec("a"), "1") << "the one that is going stays what it is";
  w.robot.edit("a", R"({"metadata":{"finalizers":null}})");
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "2");
}

TEST(Federation, WithoutMatchUidItIsAnUpdate) {
  World w(of_cloud, true, {{"match_uid", false}});
  w.cloud.make("a", 1);
  w.wait();
  w.robot.report("a", "of before");
  w.wait();
  const std::string first = w.robot.uid("a");
  w.robot.leave();
  w.cloud.remove("a");
  w.cloud.make("a", 2);
  w.wait();
  w.robot.come_back();
  w.wait();
  EXPECT_EQ(w.robot.uid("a"), first);
  EXPECT_EQ(w.robot.spec("a"), "2");
  EXPECT_EQ(w.cloud.status("a"), "of before");
}

TEST(Federation, SendsNothingAtRest) {
  World w;
  for (int i = 0; i < 20; ++i) w.cloud.make("a" + std::to_string(i), i);
  w.wait();
  const size_t writes = w.cloud.front->requests + w.robot.front->requests;
  w.wait(1h);
  EXPECT_EQ(w.cloud.front->requests + w.robot.front->requests, writes);
  EXPECT_EQ(w.robot.writes(), 20u);
  EXPECT_EQ(w.cloud.writes(), 0u);
}

TEST(Federation, DefinitionsComeChangeAndGo) {
  World w("");
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_TRUE(w.robot.get("a").is_null()) << "nobody has said that robots take part";
  w.robot.define(of_cloud);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_EQ(w.host().metric("davit_federation_resources"), 1);
  w.robot.define(of_cloud, true, R"("schema":{"openAPIV3Schema":{"type":"object"}})");
  w.wait();
  size_t begun = 0;
  for (const auto& line : w.host().log()) begun += line.message == "a resource takes part";
  EXPECT_EQ(begun, 1u) << "B13: a schema restarts nothing";
  w.robot.define("");
  w.wait();
  w.cloud.set("a", 2);
  w.cloud.remove("a");
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1") << "what no longer takes part stays as it is";
  EXPECT_EQ(w.host().metric("davit_federation_resources"), 0);
}

TEST(Federation, ADefinitionThatCannotTakePartIsSaid) {
  World w(R"("cr-syncer.cloudrobotics.com/spec-source":"nowhere")");
  w.robot.make("a", 1);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_NE(w.host().health_reason().find("nowhere"), std::string::npos);
}

TEST(Federation, AResourceOfTheConfigurationLeavesWhatItHasNotMade) {
  World w("", true,
          {{"definitions", "none"},
           {"resource", std::vector<testing::Config>{{{"group", "g"},
                                                      {"version", "v1"},
                                                      {"resource", "robots"},
                                                      {"selector", "to=edge"}}}}});
  w.robot.make("own", 9, R"("labels":{"to":"edge"})");
  w.cloud.make("own", 1, R"("labels":{"to":"edge"})");
  w.cloud.make("a", 1, R"("labels":{"to":"edge"})");
  w.cloud.make("b", 1);
  w.robot.make("extra", 9, R"("labels":{"to":"edge"})");
  w.wait();
  EXPECT_EQ(w.robot.spec("own"), "9");
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_TRUE(w.robot.get("b").is_null());
  EXPECT_EQ(w.robot.spec("extra"), "9");
  w.cloud.remove("a");
  w.wait();
  EXPECT_TRUE(w.robot.get("a").is_null());
}

TEST(Federation, NamespacesOfTheSettingOnly) {
  World w(of_cloud, true, {{"namespaces", {"kube-public"}}});
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_TRUE(w.robot.get("a").is_null());
}

TEST(Federation, CountsAsTheReferenceDoes) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  EXPECT_GE(w.host().metric("cr_syncer_cloudrobotics_com_syncs_total",
                            {{"event_source", "upstream"}, {"resource", "robots.g"}}),
            1);
}

}  // namespace
}  // namespace davit::federation::test

// Federation as it is loaded, when upstream has lost its objects: deletes are held.
#include <fstream>

#include "looker.hpp"

namespace davit::federation::test {
namespace {

constexpr int many = 12;

void make_all(Cluster& cluster, int from = 0, int to = many) {
  for (int i = from; i < to; ++i) cluster.make("a" + std::to_string(i), i);
}
int left(World& w) {
  int out = 0;
  for (int i = 0; i < many; ++i) out += !w.robot.get("a" + std::to_string(i)).is_null();
  return out;
}
// Upstream comes back and has only the objects from `from` on; a list tells it.
void lose(World& w, int to = many) {
  w.stop();
  for (int i = 0; i < to; ++i) w.cloud.remove("a" + std::to_string(i));
  w.start();
  w.wait();
}

TEST(FederationGuard, AnUpstreamThatWasRestoredEmptyDeletesNothing) {
  World w;
  make_all(w.cloud);
  w.wait();
  lose(w);
  EXPECT_EQ(left(w), many);
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_NE(w.host().health_reason().find("davit federation release robots.g"), std::string::npos)
      << w.host().health_reason();
  EXPECT_EQ(w.host().metric("davit_federation_held_deletes",
                            {{"resource", "robots.g"}, {"namespace", ""}}),
            many);
}

TEST(FederationGuard, ARunningProcessHoldsThemToo) {
  World w;
  make_all(w.cloud);
  w.wait();
  w.cloud.leave();
  w.cloud.front->policy = nullptr;
  for (int i = 0; i < many; ++i) w.cloud.remove("a" + std::to_string(i));
  w.cloud.come_back();  // it lists anew
  w.wait();
  EXPECT_EQ(left(w), many);
}

TEST(FederationGuard, WhatAWatchTellsIsDeleted) {
  World w;
  make_all(w.cloud);
  w.wait();
  for (int i = 0; i < many; ++i) w.cloud.remove("a" + std::to_string(i));
  w.wait();
  EXPECT_EQ(left(w), 0);
}

TEST(FederationGuard, AnOperatorReleasesThem) {
  World w;
  Looker look(w);
  make_all(w.cloud);
  w.wait();
  lose(w);
  EXPECT_EQ(look.counts(), "held 12");
  EXPECT_EQ(look.release("wheels.g"), "5 \"wheels.g\" does not take part");
  EXPECT_EQ(look.release("robots.g"), "12");
  w.wait();
  EXPECT_EQ(left(w), 0);
  EXPECT_EQ(look.release("robots.g"), "0");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(FederationGuard, UpstreamGetsItsObjectsBackOneByOne) {
  World w;
  Looker look(w);
  make_all(w.cloud);
  w.wait();
  lose(w);
  make_all(w.cloud, 0, many - 2);
  w.wait();
  EXPECT_EQ(left(w), many) << "the last two wait for the restore, too";
  EXPECT_EQ(look.counts(), "held 2, in_step 10");
  make_all(w.cloud, many - 2, many);
  w.wait();
  EXPECT_EQ(look.counts(), "in_step 12");
  w.cloud.remove("a0");
  w.wait();
  EXPECT_EQ(left(w), many - 1) << "what was held once is deleted as any other";
}

TEST(FederationGuard, WhatIsHeldStaysHeldOverARestart) {
  World w;
  Looker look(w);
  make_all(w.cloud);
  w.wait();
  lose(w);
  make_all(w.cloud, 0, many - 2);
  w.wait();
  for (int i = 0; i < 3; ++i) {
    w.stop();
    w.start();
    w.wait();
    EXPECT_EQ(look.counts(), "held 2, in_step 10");
  }
}

TEST(FederationGuard, AFileThatCannotBeReadIsSaidAndTheListDecides) {
  World w;
  make_all(w.cloud);
  w.wait();
  lose(w);
  w.stop();
  std::ofstream(w.host().state_directory() + "/held.json") << "{\"robots";
  w.start();
  w.wait();
  EXPECT_TRUE(w.host().logged("what was held cannot be read"));
  EXPECT_EQ(left(w), many);
}

TEST(FederationGuard, AFewAreDeletedAfterAList) {
  World w;
  make_all(w.cloud);
  w.wait();
  lose(w, 6);
  EXPECT_EQ(left(w), many - 6) << "no more than half";
}

TEST(FederationGuard, TheSettingsSayHowMany) {
  World w(of_cloud, true, {{"deletes_max", 2}, {"deletes_max_percent", 10}});
  make_all(w.cloud);
  w.wait();
  lose(w, 3);
  EXPECT_EQ(left(w), many);

  World all(of_cloud, true, {{"deletes_max_percent", 100}});
  make_all(all.cloud);
  all.wait();
  lose(all);
  EXPECT_EQ(left(all), 0);
}

}  // namespace
}  // namespace davit::federation::test

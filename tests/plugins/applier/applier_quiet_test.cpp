// What the applier makes of a peer that never says that a snapshot has ended.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

struct QuietWorld : World {
  explicit QuietWorld(const testing::Config& c = {{"prune_on_close", true},
                                                  {"prune_share_max_percent", 100}})
      : World(c) {
    begin_ctrl_v1();
    apply("keep", 10);
    apply("drop", 11);
    wait();
    restart();
    EXPECT_EQ(replica_sets(), "drop keep");
  }
};

TEST(Quiet, ShowsWhatAPeerHasNotNamedThatHasFallenSilent) {
  QuietWorld w;
  w.begin_ctrl_v1();
  w.apply("keep", 10);
  w.wait(10min);
  EXPECT_FALSE(w.issues.contains("drop")) << "it may still come";
  w.quiet();
  w.wait(10min);
  EXPECT_EQ(w.issues["drop"], "orphaned");
  EXPECT_EQ(w.replica_sets(), "drop keep") << "nobody has said that it is gone";
  EXPECT_EQ(w.host().metric("davit_applier_orphaned", {{"kind", "deployment"}}), 1);
  EXPECT_FALSE(w.issues.contains("keep"));
  w.begin_ctrl_v1();
  w.apply("keep", 10);
  w.apply("drop", 11, {5});
  w.wait();
  EXPECT_FALSE(w.issues.contains("drop")) << "it is named again";
  w.wait(2min);
  EXPECT_EQ(w.host().metric("davit_applier_orphaned", {{"kind", "deployment"}}), 0);
  EXPECT_EQ(w.replicas("drop"), 5);
}

TEST(Quiet, MakesNoOrphanOfWhatAPeerLeavesOutOfALaterListing) {
  QuietWorld w;
  w.begin_ctrl_v1();
  w.apply("keep", 10);
  w.apply("drop", 11);
  w.wait();
  w.quiet();
  w.begin_ctrl_v1();
  w.apply("keep", 10);
  w.begin(false, 0);  // it was cut in the middle, and goes on
  w.quiet();
  w.wait();
  EXPECT_FALSE(w.issues.contains("drop"));
  w.edit("drop", R"({"spec": {"replicas": 7}})");
  w.wait();
  EXPECT_EQ(w.replicas("drop"), 1) << "it is kept as it was wanted last";
}

TEST(Quiet, DeletesAnOrphanByThePeersWord) {
  QuietWorld w;
  w.begin_ctrl_v1();
  w.apply("keep", 10);
  w.quiet();
  w.wait();
  EXPECT_EQ(w.issues["drop"], "orphaned");
  w.remove("drop", 12, false);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  EXPECT_FALSE(w.issues.contains("drop"));
}

// A backup may be older than the word, and its versions go on as the stream does.
TEST(Gone, IsSaidAgainToAStoreThatMayHaveLostIt) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.apply("other", 11);
  w.end(2, 11);
  w.wait();
  w.remove("web", 12);
  w.remove("other", 13);
  w.wait();
  ASSERT_TRUE(w.statuses["d_web"].gone);
  w.statuses.clear();
  w.begin(false, 1);  // the same store
  w.wait();
  EXPECT_FALSE(w.statuses.contains("d_web"));
  w.apply("other", 14);
  w.wait();
  w.begin(false, 2);
  w.wait();
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_FALSE(w.statuses["d_other"].gone) << "it lives again";
}

}  // namespace
}  // namespace davit::applier::test

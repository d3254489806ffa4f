// What the applier says of records that have died when other records have their names, and what it
// does with the objects.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

struct OneRecord : World {
  OneRecord() {
    begin(true);
    apply("web", 10);
    end(1, 10);
    wait();
  }
  void apply_another(Version version) { apply("web", version, {.id = "d_another"}); }
  // A snapshot names the record that has the name now, and says that it named so many.
  void hear_of_another_alone(uint64_t live_count) {
    begin(true, 1, 20);
    apply_another(13);
    end(live_count, 20);
    wait();
  }
};

TEST(Successor, TheDeadRecordIsGoneOnceTheObjectIsItsSuccessors) {
  OneRecord w;
  w.remove_record("d_web", "", 12);
  EXPECT_EQ(w.outcome(12), "done");
  w.wait();
  EXPECT_FALSE(w.statuses["d_web"].gone) << "its object still stands";
  w.apply_another(13);
  w.wait();
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(12));
  EXPECT_TRUE(w.statuses["d_web"].name.empty()) << "the name is not its own any more";
  EXPECT_FALSE(w.statuses["d_another"].gone);
  EXPECT_EQ(w.replica_sets(), "web");
}

// The delete came while it still had the name, and was not carried out before the name was taken.
TEST(Successor, TheDeadRecordIsGoneThoughItsDeleteWasOvertaken) {
  OneRecord w;
  w.front().hold = true;
  w.remove("web", 12);
  w.apply_another(13);
  w.front().release();
  w.wait();
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_FALSE(w.statuses["d_another"].gone);
  EXPECT_EQ(w.replica_sets(), "web");
}

TEST(Successor, OfARecordThatIsNotKnownToBeDeadNothingIsSaid) {
  OneRecord w;
  w.apply_another(13);
  w.wait();
  EXPECT_FALSE(w.statuses["d_web"].gone);
  w.remove_record("d_web", "", 14);
  w.wait();
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(14)) << "else it confirms no death";
}

// Another agent has said gone of it already, so the snapshot does not list its tombstone. What this
// one has said of it would stand for ever.
TEST(Successor, TheDeadRecordIsGoneThatACompleteSnapshotDoesNotName) {
  OneRecord w;
  w.hear_of_another_alone(1);
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(20)) << "as of the snapshot";
  EXPECT_FALSE(w.statuses["d_another"].gone);
  EXPECT_EQ(w.replica_sets(), "web");
}

// Nothing is left under the name: its successor could never be applied, and is dead as well.
TEST(Successor, WhoGoesWithItsSuccessorIsGoneAsOfTheSnapshot) {
  OneRecord w;
  w.apply("web", 13, {.cpu = -5, .id = "d_another"});
  w.wait();
  ASSERT_EQ(w.outcome(13), "parked");
  w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "web", "");
  w.wait();
  w.begin(true, 1, 20);
  w.end(0, 20);
  w.wait();
  for (const char* id : {"d_web", "d_another"}) {
    EXPECT_TRUE(w.statuses[id].gone) << id;
    EXPECT_EQ(w.statuses[id].observed_version, Version(20)) << id;
  }
}

TEST(Successor, ASnapshotThatLeftSomethingOutProvesNoDeath) {
  OneRecord w;
  w.hear_of_another_alone(2);
  EXPECT_FALSE(w.statuses["d_web"].gone);
}

TEST(Successor, WhoLivesUnderAnotherNameIsNotGone) {
  OneRecord w;
  w.begin(true, 1, 20);
  w.apply_another(13);
  w.apply("moved", 14, {.id = "d_web"});
  w.end(2, 20);
  w.wait();
  EXPECT_FALSE(w.statuses["d_web"].gone);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(14));
}

// Both died while the agent was away: the object is still the first one's.
TEST(Successor, ADeadSuccessorTakesTheObjectWithIt) {
  OneRecord w;
  w.remove_record("d_web", "", 12);
  w.remove_record("d_another", "web", 14);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_TRUE(w.statuses["d_another"].gone);
}

TEST(Successor, ASuccessorThatDiedFirstLeavesTheNameToTheFirst) {
  OneRecord w;
  w.remove_record("d_another", "web", 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "web") << "the first one's";
  EXPECT_TRUE(w.statuses["d_another"].gone);
  w.remove_record("d_web", "", 14);
  w.wait();
  EXPECT_EQ(w.outcome(14), "done");
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_TRUE(w.statuses["d_web"].gone);
}

// A control plane that has two records of one name: the object is the living one's.
TEST(Successor, ADeleteOfAnotherRecordLeavesTheObjectOfTheOneThatLives) {
  for (const bool held : {false, true}) {
    OneRecord w;
    if (held) w.hold("web", 12);
    w.remove_record("d_another", "web", 14);
    w.wait();
    EXPECT_EQ(w.outcome(14), "done");
    EXPECT_EQ(w.replica_sets(), "web") << held;
    EXPECT_FALSE(w.statuses["d_web"].gone) << held;
  }
}

TEST(Successor, ARecordThatNobodyKnowsIsGone) {
  OneRecord w;
  w.remove_record("d_nobody", "", 12);
  w.wait();
  EXPECT_TRUE(w.statuses["d_nobody"].gone);
}

TEST(Successor, WhatIsNotSeenIsNotSaidToBeGone) {
  World w;
  w.blind();
  w.restart();
  w.begin(true, 1, 20);
  w.apply("web", 13, {.id = "d_another"});
  w.remove_record("d_web", "", 12);
  w.end(1, 20);
  w.wait();
  EXPECT_FALSE(w.statuses["d_web"].gone);
  w.see();
  w.wait();
  EXPECT_TRUE(w.statuses["d_web"].gone);
}

// A snapshot names the tombstone of the first one without the name, and nothing of the second.
TEST(Successor, WhatIsLeftOfADeadRecordGoesAtTheEndOfASnapshotWhateverItsShare) {
  World w({{"prune_always_allowed", int64_t{0}}, {"prune_share_max_percent", int64_t{1}}});
  w.begin(true);
  w.apply("web", 10);
  w.end(1, 10);
  w.wait();
  w.restart();
  w.begin(true, 1, 20);
  w.remove_record("d_web", "", 12);
  w.end(0, 20);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_TRUE(w.statuses["d_web"].gone);
}

// The store was restored since, and may have lost the report.
TEST(Successor, WhoWasPrunedIsGoneAsOfTheSnapshotWheneverThatIsSaid) {
  OneRecord w;
  w.begin(true, 1, 12);
  w.end(0, 12);
  w.wait();
  ASSERT_EQ(w.statuses["d_web"].observed_version, Version(12));
  w.statuses.clear();
  w.begin(false, 2, 12, {{1, 12}});
  w.wait();
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_EQ(w.statuses["d_web"].observed_version, Version(12));
}

}  // namespace
}  // namespace davit::applier::test

// What the applier removes at the end of a snapshot, and what it never removes.
#include "prune_world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

TEST(Prune, RemovesWhatACompleteSnapshotDoesNotName) {
  PruneWorld w;
  w.begin(true);
  w.apply("keep", 10);
  w.end(1, 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  EXPECT_TRUE(w.statuses["d_drop"].gone);
  EXPECT_EQ(w.statuses["d_drop"].observed_version, Version(12))
      << "its tombstone may be as young as that";
}

TEST(Prune, RemovesWhatAnEarlierProcessLeft) {
  PruneWorld w;
  w.restart();
  w.begin(true);
  w.apply("keep", 10);
  w.end(1, 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  EXPECT_TRUE(w.statuses["d_drop"].gone) << "the stamp says which record it was";
}

TEST(Prune, SaysNothingOfAnIdThatLivesUnderAnotherName) {
  PruneWorld w;
  w.restart();
  w.begin(true);
  w.apply("keep", 10);
  w.apply("moved", 12, {.id = "d_drop"});
  w.wait();
  w.end(2, 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep moved");
  EXPECT_FALSE(w.statuses["d_drop"].gone);
  EXPECT_EQ(w.statuses["d_drop"].observed_version, Version(12));
}

TEST(Prune, DeletesNothingWhenTheCountDiffers) {
  PruneWorld w;
  w.begin(true);
  w.apply("keep", 10);
  w.end(2, 12);
  w.wait(5min);
  w.expect_orphan();
  EXPECT_TRUE(w.host().logged("error: nothing is pruned"));
}

TEST(Prune, DeletesNothingWithoutTheEnd) {
  PruneWorld w;
  w.begin(true);
  w.apply("keep", 10);
  w.wait(5min);
  EXPECT_EQ(w.replica_sets(), "drop keep");
}

TEST(Prune, OrphansAfterAChangeOfHistoryUntilItIsNamedAgain) {
  PruneWorld w;
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 10);
  w.wait(5min);
  w.expect_orphan();
  w.apply("drop", 11, {5});
  w.wait(20s);
  EXPECT_EQ(w.replicas("drop"), 1) << "what it was made of may be newer";
  w.word(2, 11);
  w.wait();
  EXPECT_EQ(w.replicas("drop"), 5);
  EXPECT_FALSE(w.issues.contains("drop"));
}

TEST(Prune, EndsAnOrphanWhoseNameAnotherRecordTakes) {
  PruneWorld w;
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 10);
  w.wait();
  EXPECT_EQ(w.troubled, std::set<std::string>{"d_drop"});
  w.apply("drop", 11, {.id = "d_other"});
  w.wait();
  EXPECT_EQ(w.troubled, std::set<std::string>{});
}

TEST(Prune, KeepsAnOrphanThroughLaterSnapshotsOfTheSameHistory) {
  PruneWorld w;
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 10);
  w.wait();
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 20);  // by now the store has a version 11 again
  w.wait(5min);
  w.expect_orphan();
}

TEST(Prune, JudgesBySnapshotsThatEndedBeforeItsWatchesWereComplete) {
  PruneWorld w;
  w.hear_while_blind();
  w.begin(false);  // the connection was cut
  w.see();
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
}

// Its history ends before the version that the object was made of.
TEST(Prune, OrphansWhatAStoreHasLostThatWasRestoredBeforeTheSnapshotCouldBeJudged) {
  PruneWorld w;
  w.hear_while_blind();
  w.begin(false, 2, 10, {{1, 10}});
  w.see();
  w.wait(5min);
  w.expect_orphan();
}

// The store was emptied, or restored, and has grown past what it has lost.
TEST(Prune, OrphansWhatAnotherHistoryMadeAlsoAfterARestart) {
  PruneWorld w;
  w.restart();
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 500);
  w.wait(5min);
  w.expect_orphan();
}

TEST(Prune, RemovesWhatTheNewHistoryHasNamed) {
  PruneWorld w;
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 10);
  w.wait(20s);
  w.word(2, 10);
  w.wait();
  w.restart();
  w.begin(true, 2);
  w.end(0, 12);
  w.wait(5min);
  EXPECT_EQ(w.replica_sets(), "drop")
      << "its stamp is of this history, though nothing else changed";
}

TEST(Prune, OrphansWhatALostVersionMadeAlsoAfterARestart) {
  PruneWorld w;
  w.restart();
  w.begin(true);
  w.apply("keep", 10);
  w.end(1, 10);  // the store has not reached version 11 any more
  w.wait(5min);
  w.expect_orphan();
}

TEST(Prune, OrphansWhatHasLostItsStamps) {
  PruneWorld w;
  w.restart();
  w.call(DAVIT_VERB_MERGE, "replicasets", "acme", "drop",
         R"({"metadata": {"annotations": {"davit.dev/id": null, "davit.dev/version": null}}})");
  w.begin(true);
  w.apply("keep", 10);
  w.end(1, 12);
  w.wait(5min);
  w.expect_orphan();
}

// --- records that were dead when the snapshot began, and are named because nobody has said gone

TEST(Lingering, IsSaidToBeGoneWhenNothingIsLeft) {
  PruneWorld w;
  w.restart();
  w.begin(true, 1, 20);
  w.apply("keep", 10);
  w.apply("drop", 11);
  w.remove("undone", 15);
  EXPECT_EQ(w.outcome(15), "done");
  w.wait();
  EXPECT_FALSE(w.statuses.contains("d_undone")) << "the snapshot has not ended";
  w.end(2, 20);
  w.wait();
  EXPECT_TRUE(w.statuses["d_undone"].gone);
  EXPECT_EQ(w.statuses["d_undone"].observed_version, Version(15));
  EXPECT_FALSE(w.statuses["d_drop"].gone);
}

TEST(Lingering, IsSaidToBeGoneOnceItsObjectsAre) {
  PruneWorld w;
  w.restart();
  w.begin(true, 1, 20);
  w.apply("keep", 10);
  w.remove("drop", 15);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "drop keep") << "not before the snapshot has ended";
  w.end(1, 20);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  EXPECT_TRUE(w.statuses["d_drop"].gone);
}

// In a store that was restored it may have been revived since.
TEST(Lingering, LeavesWhatALostHistoryHasMade) {
  PruneWorld w;
  w.restart();
  w.begin(true, 2, 20);
  w.apply("keep", 10);
  w.remove("drop", 9);
  w.end(1, 20);
  w.wait(5min);
  w.expect_orphan();
  EXPECT_FALSE(w.statuses["d_drop"].gone);
}

TEST(Lingering, IsSaidToBeGoneOnceAPersonHasRemovedIt) {
  PruneWorld w;
  w.restart();
  w.begin(true, 2, 20);
  w.apply("keep", 10);
  w.remove("drop", 9);
  w.end(1, 20);
  w.wait();
  w.expect_orphan();
  w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "drop", "");
  w.wait();
  EXPECT_TRUE(w.statuses["d_drop"].gone);
}

TEST(Lingering, IsNotGoneWhenItLivesAgain) {
  PruneWorld w;
  w.restart();
  w.begin(true, 1, 20);
  w.apply("keep", 10);
  w.remove("drop", 15);
  w.apply("drop", 21);
  w.end(2, 21);
  w.wait();
  EXPECT_FALSE(w.statuses["d_drop"].gone);
  EXPECT_EQ(w.replica_sets(), "drop keep");
}

TEST(Lingering, IsGoneThoughAnotherRecordHasItsName) {
  PruneWorld w;
  w.restart();
  w.begin(true, 1, 20);
  w.apply("keep", 10);
  w.remove("drop", 15);
  w.apply("drop", 21, {.id = "d_other"});
  w.end(2, 21);
  w.wait();
  EXPECT_TRUE(w.statuses["d_drop"].gone);
  EXPECT_FALSE(w.statuses["d_other"].gone);
  EXPECT_EQ(w.replica_sets(), "drop keep");
}

TEST(Lingering, IsForTheWatchesToTell) {
  PruneWorld w;
  w.blind();
  w.restart();
  w.begin(true, 1, 20);
  w.apply("keep", 10);
  w.remove("drop", 15);
  w.end(1, 20);
  w.wait();
  EXPECT_FALSE(w.statuses["d_drop"].gone) << "nothing has been seen yet";
  w.see();
  w.wait();
  EXPECT_TRUE(w.statuses["d_drop"].gone);
  EXPECT_EQ(w.replica_sets(), "keep");
}

TEST(Prune, EndsAnOrphanThatAPersonRemoves) {
  PruneWorld w;
  w.begin(true, 2);
  w.apply("keep", 10);
  w.end(1, 10);
  w.wait();
  EXPECT_EQ(w.issues["drop"], "orphaned");
  w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "drop", "");
  w.wait();
  EXPECT_FALSE(w.issues.contains("drop"));
  EXPECT_EQ(w.replica_sets(), "keep");
}

TEST(Prune, NeverRemovesMoreThanAShare) {
  PruneWorld w({{"prune_always_allowed", 0}, {"prune_share_max_percent", 40}});
  w.begin(true);
  w.apply("keep", 10);
  w.end(1, 12);
  w.wait(5min);
  w.expect_orphan();
}

TEST(Prune, RemovesAnOrphanOfALostHistoryThatATombstoneConfirms) {
  PruneWorld w;
  w.restart();
  w.begin(true, 2, 5);
  w.end(0, 5);
  w.wait();
  w.expect_orphan();
  w.remove("drop", 6);
  w.wait(20s);
  w.word(2, 6);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  EXPECT_TRUE(w.statuses["d_drop"].gone);
  EXPECT_FALSE(w.issues.contains("drop"));
  EXPECT_EQ(w.issues["keep"], "orphaned") << "nobody has confirmed that one";
}

TEST(Prune, RemovesWhatHasATombstoneWhateverItsShare) {
  PruneWorld w({{"prune_always_allowed", 0}, {"prune_share_max_percent", 0}});
  w.restart();
  w.begin(true, 1, 20);
  w.apply("keep", 10);
  w.remove("drop", 15);
  w.end(1, 20);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  EXPECT_TRUE(w.statuses["d_drop"].gone);
}

TEST(Prune, TakesACleanCloseForTheEndOnlyWhenItMay) {
  for (const bool may : {false, true}) {
    PruneWorld w({{"prune_on_close", may}});
    w.begin(true);
    w.apply("keep", 10);
    w.end(std::nullopt, 0);
    w.wait();
    EXPECT_EQ(w.replica_sets(), may ? "keep" : "drop keep");
  }
}

TEST(Prune, KeepsWhatIsParked) {
  PruneWorld w;
  w.begin(true);
  w.apply("keep", 10);
  w.garbage("drop", 12);
  w.end(2, 12);
  w.wait(5min);
  EXPECT_EQ(w.outcome(12), "parked");
  EXPECT_EQ(w.replica_sets(), "drop keep");
}

}  // namespace
}  // namespace davit::applier::test

// What a storage answers is judged before others rely on it.
#include "services/versions.hpp"

#include "commit_queue_rig.hpp"

namespace davit::host {
namespace {

TEST_F(CommitQueueTest, VersionsThatCannotBeAreAnErrorOfThePlugin) {
  const std::string fault = "storage \"main\": a fault of the plugin: it answered a commit with ";
  storage_.version = Version(INT64_MAX - 2);
  occupy();
  commit({mutation("a"), mutation("b")});
  EXPECT_EQ(answers(), "first=9223372036854775806 a=" + fault + "version 9223372036854775807");
}

TEST_F(CommitQueueTest, OneVersionForTwoGroupsIsAnErrorOfThePlugin) {
  occupy();
  storage_.repeats_version = true;
  commit({mutation("a"), mutation("b")});
  commit({mutation("c")});
  EXPECT_EQ(answers(),
            "first=1 a=2 c=storage \"main\": a fault of the plugin: it answered a commit with "
            "twice the version 2");
}

TEST_F(CommitQueueTest, AVersionAboveTheHeadThatFollowsIsAnErrorOfThePlugin) {
  storage_.boasts_by = 1000;
  commit({mutation("a"), mutation("b")});
  EXPECT_EQ(answers(),
            "a=storage \"main\": a fault of the plugin: it answered a commit with version 1002, "
            "but its head is 2 afterwards");
}

TEST_F(CommitQueueTest, AVersionOfNoIncarnationIsAnErrorOfThePlugin) {
  storage_.incarnation = 0;
  commit({mutation("a")});
  EXPECT_EQ(answers(),
            "a=storage \"main\": a fault of the plugin: it answered a commit with version 1 of no "
            "incarnation");
}

TEST_F(CommitQueueTest, AVersionThatWasSeenBeforeIsAnErrorUnlessTheRequestMayBeARepetition) {
  storage_.always_answers = 1;
  commit({mutation("a")});
  commit({mutation("a"), mutation("b")});  // shares a key: a call of its own
  commit({mutation("a"), mutation("c")}, "r1");
  EXPECT_EQ(answers(),
            "a=1 a=storage \"main\": a fault of the plugin: it answered a commit with version 1, "
            "but its head was 1 before a=1");
}

TEST_F(CommitQueueTest, FaultsOfTheStorageAreLoggedWithItsNameWhenTheyBeginAndEnd) {
  storage_.report_answers = {DAVIT_INTERNAL, DAVIT_DATA_LOSS, DAVIT_OK};
  storage_.poison = "p";  // ABORTED is no fault of the storage
  for (int i = 0; i < 4; ++i) report({"a"});
  commit({mutation("p")});
  answers();
  EXPECT_EQ(logged_,
            "error main      a call of the storage fails call=report error=\"the database is "
            "locked\"\ninfo  main      calls succeed again call=report failed=2\n");
}

TEST(Versions, MayBeGivenAgainInAnotherIncarnation) {
  Versions versions(str("main"));
  Group group;
  group.mutations.resize(1);
  versions.called(Cursor{1, 10});
  EXPECT_EQ(versions.judge({1, 10}, group), std::nullopt);
  versions.called(Cursor{2, 10});
  EXPECT_EQ(versions.judge({2, 8}, group), std::nullopt);
  versions.called(Cursor{2, 10});
  EXPECT_NE(versions.judge({2, 8}, group), std::nullopt);
  versions.called(std::nullopt);
  EXPECT_NE(versions.judge({2, 8}, group), std::nullopt) << "the head before is known";
  versions.called(std::nullopt);
  EXPECT_EQ(versions.judge({2, 8}, group), std::nullopt) << "what is not known is not judged";
}

// The store is restored while it runs: before the commit, or between it and the next look at the
// head.
TEST(Versions, AreJudgedInTheIncarnationThatTheResultNames) {
  Versions versions(str("main"));
  Group group;
  group.mutations.resize(2);
  versions.called(Cursor{Incarnation::max(), 10});
  versions.called(Cursor{2, 5});
  EXPECT_EQ(versions.judge({Incarnation::max(), 11}, group), std::nullopt)
      << "the head lost it since";
  EXPECT_EQ(versions.judge({2, 4}, group), std::nullopt) << "the head before lost it";
  EXPECT_NE(versions.judge({Incarnation::max(), 9}, group), std::nullopt);
  EXPECT_NE(versions.judge({2, 5}, group), std::nullopt);
  EXPECT_NE(versions.judge({2, 3}, group), std::nullopt) << "3 and 4 overlap 4 and 5";
  EXPECT_NE(versions.judge({0, 12}, group), std::nullopt) << "no incarnation";
}

}  // namespace
}  // namespace davit::host

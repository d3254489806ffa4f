#include <gtest/gtest.h>

#include <davit/v1/operator.pb.h>

#include "commands/rollout.hpp"

namespace davit::host {
namespace {

class RolloutTest : public testing::Test {
 protected:
  RolloutTest() {
    status_.mutable_head()->set_incarnation(incarnation);
    status_.mutable_head()->set_version(12);
    object_ = status_.add_objects();
    object_->set_kind("deployment");
    object_->set_region("eu");
    object_->set_id("d_1");
    object_->set_version(12);
    object_->set_live(true);
    agent_ = status_.add_agents();
    agent_->set_region("eu");
    agent_->set_agent("a");
  }
  void observe(uint64_t version, int desired, int updated, int ready, int stale,
               const std::string& health = "") {
    auto* s = object_->mutable_observed();
    s->set_observed_version(version);
    s->set_desired(desired);
    s->set_updated(updated);
    s->set_ready(ready);
    s->set_stale(stale);
    s->set_health(health);
  }
  void issue(uint64_t version, const std::string& condition) {
    auto* i = agent_->add_issues();
    i->set_kind("deployment");
    i->set_id("d_1");
    i->set_version(version);
    i->set_condition(condition);
    i->set_reason("because");
  }
  void ended(uint64_t in, uint64_t version) {
    auto* end = status_.add_history();
    end->set_incarnation(in);
    end->set_version(version);
  }
  Rollout::State see(int second = 0) {
    return rollout_.see(status_, Rollout::Time(std::chrono::seconds(second)));
  }

  static constexpr uint64_t incarnation = UINT64_MAX;  // all 64 bits are used
  v1::StatusResponse status_;
  v1::ObjectStatus* object_;
  v1::AgentStatus* agent_;
  Rollout rollout_{"deployment", "eu", "d_1", 12, incarnation};
};

TEST_F(RolloutTest, IsDoneWhenAllOfThisVersionAreReady) {
  observe(12, 3, 3, 3, 0);
  EXPECT_EQ(see(), Rollout::State::done);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): running at version 12, 3 of 3 ready");
}

TEST_F(RolloutTest, WhatIsArchivedIsDoneWhenNothingIsLeft) {
  object_->set_live(false);
  object_->set_version(12);
  observe(11, 1, 1, 1, 0);
  EXPECT_EQ(see(), Rollout::State::waiting);
  object_->mutable_observed()->set_gone(true);
  EXPECT_EQ(see(), Rollout::State::done);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): gone");
}

TEST_F(RolloutTest, WhatIsDeletedIsDoneWhenAgentsHaveAppliedTheDelete) {
  object_->set_live(false);
  auto* progress = agent_->add_kinds();
  progress->set_kind("deployment");
  progress->mutable_applied()->set_version(11);
  // It may have made the object, and not have reported it yet.
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): not applied yet");
  const v1::StatusResponse with_object = status_;
  status_.clear_objects();
  EXPECT_EQ(see(), Rollout::State::waiting) << "the server no longer shows it";
  status_ = with_object;
  status_.mutable_agents(0)->set_taken_over(true);
  EXPECT_EQ(Rollout(rollout_).see(status_, {}), Rollout::State::done) << "it does nothing any more";
  status_.mutable_agents(0)->set_taken_over(false);
  status_.mutable_agents(0)->mutable_kinds(0)->mutable_applied()->set_version(12);
  EXPECT_EQ(see(), Rollout::State::done);
}

TEST_F(RolloutTest, AnOrphanThatIsDeletedIsWaitedForAndOneThatIsHeldFails) {
  object_->set_live(false);
  auto* progress = agent_->add_kinds();
  progress->set_kind("deployment");
  progress->mutable_applied()->set_version(14);  // of the store that was lost
  issue(14, "orphaned");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): being removed");
  agent_->clear_issues();
  issue(12, "held");
  EXPECT_EQ(see(), Rollout::State::failed);
}

TEST_F(RolloutTest, ReadyPodsOfAnOlderVersionDoNotCount) {
  observe(11, 3, 3, 3, 0);
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): not applied yet");
}

TEST_F(RolloutTest, AgentsOfAnotherRegionDoNotCount) {
  agent_->set_region("us");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): no agent of the region has reported yet");
}

TEST_F(RolloutTest, SaysThatAgentsOnKranesWireDoNotReportEveryKind) {
  agent_->set_software("ctrl.v1");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(),
            "deployment/d_1 (eu): not reported yet; agents that speak ctrl.v1 do not report every "
            "kind");
}

TEST_F(RolloutTest, PodsOfAnOlderTemplateAreNamedAndWaitedFor) {
  observe(12, 3, 3, 3, 2);
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(),
            "deployment/d_1 (eu): 3 of 3 updated, 3 ready, 2 of an older template remain");
}

TEST_F(RolloutTest, AnAnswerOlderThanTheApplySaysNothing) {
  status_.mutable_head()->set_version(11);
  object_->set_version(11);
  observe(12, 3, 3, 3, 0);
  EXPECT_EQ(see(), Rollout::State::waiting);
}

TEST_F(RolloutTest, ARestartOfTheServerLosesNothing) {
  status_.mutable_head()->set_incarnation(5);
  EXPECT_EQ(see(), Rollout::State::waiting);
  observe(12, 3, 3, 3, 0);
  EXPECT_EQ(see(), Rollout::State::done);
}

TEST_F(RolloutTest, WhatARestoredStoreHasLostFails) {
  status_.mutable_head()->set_incarnation(5);
  status_.mutable_head()->set_version(11);
  object_->set_version(11);
  EXPECT_EQ(see(), Rollout::State::failed);
  EXPECT_EQ(
      rollout_.line(),
      "deployment/d_1 (eu): the store was restored and has lost version 12: repeat the command");
}

// The store has given the lost version to another record meanwhile.
TEST_F(RolloutTest, WhatARestoredStoreHasLostFailsAlsoWhenItsVersionWasGivenAgain) {
  status_.mutable_head()->set_incarnation(5);
  status_.mutable_head()->set_version(20);
  object_->set_version(11);
  observe(11, 3, 3, 3, 0);
  EXPECT_EQ(see(), Rollout::State::failed);
}

// Its version was given again meanwhile, so the head does not tell that the record is lost.
TEST_F(RolloutTest, WhatARestoredStoreNoLongerHasIsMissingAndNotGone) {
  status_.mutable_head()->set_incarnation(5);
  status_.mutable_head()->set_version(20);
  status_.clear_objects();
  EXPECT_EQ(see(), Rollout::State::failed);
  EXPECT_EQ(rollout_.line(),
            "deployment/d_1 (eu): missing: the store no longer has the record. It was opened anew "
            "or restored since version 12, so whether the record was deleted or lost is unknown: "
            "apply it again if it is wanted");
}

// The server was restarted after it had removed the last trace of the record.
TEST_F(RolloutTest, WhatTheHistoryKeepsAndTheStoreNoLongerHasIsGone) {
  status_.mutable_head()->set_incarnation(5);
  status_.mutable_head()->set_version(20);
  ended(incarnation, 12);
  ended(5, 20);
  status_.clear_objects();
  EXPECT_EQ(see(), Rollout::State::done);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): gone");
}

// Whatever has the name by now.
TEST_F(RolloutTest, WhatTheHistoryHasLostFails) {
  status_.mutable_head()->set_incarnation(5);
  status_.mutable_head()->set_version(20);
  ended(incarnation, 11);
  ended(5, 20);
  object_->set_version(20);
  observe(20, 3, 3, 3, 0);
  EXPECT_EQ(see(), Rollout::State::failed);
  EXPECT_EQ(
      rollout_.line(),
      "deployment/d_1 (eu): the store was restored and has lost version 12: repeat the command");
}

// A store forgets the oldest of its history, and a restored one never knew the latest.
TEST_F(RolloutTest, WhatTheHistoryDoesNotNameIsMissing) {
  status_.mutable_head()->set_incarnation(5);
  status_.mutable_head()->set_version(20);
  ended(3, 9);
  ended(5, 20);
  status_.clear_objects();
  EXPECT_EQ(see(), Rollout::State::failed);
  EXPECT_NE(rollout_.line().find("missing"), std::string::npos) << rollout_.line();
}

TEST_F(RolloutTest, WhatARestartedServerHadAndNoLongerHasIsGone) {
  status_.mutable_head()->set_incarnation(5);
  EXPECT_EQ(see(), Rollout::State::waiting) << "the store still has it";
  status_.mutable_head()->set_version(13);
  status_.clear_objects();
  EXPECT_EQ(see(), Rollout::State::done);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): gone");
}

TEST_F(RolloutTest, ParkedOrHeldAtThisVersionFailsWithTheReason) {
  issue(12, "parked");
  EXPECT_EQ(see(), Rollout::State::failed);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): parked by agent a: because");
}

TEST_F(RolloutTest, WhatABlindAgentSaidBeforeIsNotBelieved) {
  observe(12, 3, 3, 3, 0);
  object_->set_condition("blind");
  object_->set_reason("unknown since 2023-11-14T22:13:20.500Z: pods: 403 Forbidden");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(),
            "deployment/d_1 (eu): unknown since 2023-11-14T22:13:20.500Z: pods: 403 Forbidden");
  object_->clear_condition();
  EXPECT_EQ(see(), Rollout::State::done);
}

TEST_F(RolloutTest, ADelayIsWaitedFor) {
  issue(12, "delayed");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): delayed: because");
}

TEST_F(RolloutTest, AServerThatWaitsForTheKindIsWaitedFor) {
  observe(11, 3, 3, 3, 0);
  object_->set_condition("delayed");
  object_->set_reason("since 2023-11-14T22:13:20.500Z: kind deployment: its process is starting");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(),
            "deployment/d_1 (eu): delayed since 2023-11-14T22:13:20.500Z: kind deployment: its "
            "process is starting");
}

TEST_F(RolloutTest, ParkedAtAnOlderVersionIsNotAboutThisOne) {
  issue(11, "parked");
  EXPECT_EQ(see(), Rollout::State::waiting);
}

TEST_F(RolloutTest, IssuesOfOtherRegionsDoNotCount) {
  issue(12, "parked");
  agent_->set_region("us");
  EXPECT_EQ(see(), Rollout::State::waiting);
}

TEST_F(RolloutTest, ReplacedByANewerVersionFails) {
  object_->set_version(13);
  EXPECT_EQ(see(), Rollout::State::failed);
}

TEST_F(RolloutTest, UnhealthyForAWhileFailsAndShortlyDoesNot) {
  observe(12, 3, 3, 1, 0, "unhealthy");
  EXPECT_EQ(see(0), Rollout::State::waiting);
  EXPECT_EQ(see(9), Rollout::State::waiting);
  object_->mutable_observed()->set_health("progressing");
  EXPECT_EQ(see(10), Rollout::State::waiting);
  object_->mutable_observed()->set_health("unhealthy");
  EXPECT_EQ(see(11), Rollout::State::waiting);
  EXPECT_EQ(see(20), Rollout::State::waiting);
  EXPECT_EQ(see(21), Rollout::State::failed);
}

TEST_F(RolloutTest, AStateThatRemovesIsDoneWhenNothingIsLeft) {
  object_->set_live(false);
  observe(12, 0, 0, 2, 0);
  EXPECT_EQ(see(), Rollout::State::waiting);
  status_.clear_objects();
  EXPECT_EQ(see(), Rollout::State::done);
}

TEST_F(RolloutTest, NothingWantedIsDoneAtOnce) {
  observe(12, 0, 0, 0, 0);
  EXPECT_EQ(see(), Rollout::State::done);
}

TEST_F(RolloutTest, SaysWhenNobodyReports) {
  status_.clear_agents();
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): no agent of the region has reported yet");
}

// Krane's agents name no version: what they have reported since the commit is what there is.
TEST_F(RolloutTest, OfAnAgentThatNamesNoVersionAReportAfterTheCommitCounts) {
  agent_->set_software("ctrl.v1");
  object_->set_committed_at_unix_ms(1000);
  observe(0, 3, 3, 3, 0);
  object_->mutable_observed()->set_reported_at_unix_ms(1000);
  EXPECT_EQ(see(), Rollout::State::waiting) << "of what ran before";
  object_->mutable_observed()->set_reported_at_unix_ms(1001);
  object_->mutable_observed()->set_ready(2);
  EXPECT_EQ(see(), Rollout::State::waiting);
  object_->mutable_observed()->set_ready(3);
  EXPECT_EQ(see(), Rollout::State::done);
  EXPECT_EQ(rollout_.line(),
            "deployment/d_1 (eu): reported since (its agent names no version), 3 of 3 ready");
}

TEST_F(RolloutTest, AnAgentOfOursThatNamesNoVersionIsWaitedFor) {
  observe(0, 3, 3, 3, 0);
  object_->mutable_observed()->set_reported_at_unix_ms(9000);
  EXPECT_EQ(see(), Rollout::State::waiting);
}

TEST_F(RolloutTest, SaysThatNoAgentWatchesTheKind) {
  object_->set_condition("unwatched");
  object_->set_reason("no agent of the region watches it");
  EXPECT_EQ(see(), Rollout::State::waiting);
  EXPECT_EQ(rollout_.line(), "deployment/d_1 (eu): no agent of the region watches it");
}

}  // namespace
}  // namespace davit::host

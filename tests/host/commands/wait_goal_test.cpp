#include "commands/wait_goal.hpp"

#include <gtest/gtest.h>

#include <davit/v1/operator.pb.h>

namespace davit::host {
namespace {

using State = Rollout::State;

Awaited awaited(const std::string& goal, uint64_t version = 5) {
  auto parsed = WaitGoal::parse(goal);
  EXPECT_TRUE(parsed.ok()) << goal;
  return {*parsed, "deployment", "eu", "d_1", version};
}

v1::StatusResponse answer(const std::string& state, const std::string& health,
                          const std::string& condition = {}, uint64_t observed = 5) {
  v1::StatusResponse out;
  out.mutable_head()->set_version(9);
  auto* o = out.add_objects();
  o->set_kind("deployment");
  o->set_region("eu");
  o->set_id("d_1");
  o->set_state(state);
  o->set_live(state == "running");
  o->set_version(5);
  o->set_condition(condition);
  if (health.empty()) return out;
  o->mutable_observed()->set_health(health);
  o->mutable_observed()->set_observed_version(observed);
  return out;
}

TEST(WaitGoal, IsReadInOurWordsAndInThoseOfKubectl) {
  using Type = WaitGoal::Type;
  const std::pair<const char*, Type> rows[] = {
      {"healthy", Type::running},
      {"condition=Healthy", Type::running},
      {"deleted", Type::deleted},
      {"delete", Type::deleted},
      {"version=12", Type::version},
      {"parked", Type::condition},
      {"condition=parked", Type::condition},
      {"taken over", Type::condition},
  };
  for (const auto& [text, type] : rows) {
    const auto goal = WaitGoal::parse(text);
    ASSERT_TRUE(goal.ok()) << text;
    EXPECT_EQ(goal->type, type) << text;
  }
  EXPECT_EQ(WaitGoal::parse("version=12")->version, 12u);
  for (const char* text : {"", "version=", "version=0", "version=1x", "asleep"})
    EXPECT_FALSE(WaitGoal::parse(text).ok()) << text;
  const std::string said = WaitGoal::parse("helthy").error().message;
  EXPECT_NE(said.find("did you mean \"healthy\"?"), std::string::npos) << said;
}

TEST(Awaited, AWordIsWhatStatusShows) {
  Awaited parked = awaited("parked");
  EXPECT_EQ(parked.see(answer("running", "progressing")), State::waiting);
  EXPECT_EQ(parked.line(), "deployment/d_1 (eu): progressing");
  EXPECT_EQ(parked.see(answer("running", "progressing", "parked")), State::done);
  Awaited unhealthy = awaited("unhealthy");
  EXPECT_EQ(unhealthy.see(answer("running", "")), State::waiting);
  EXPECT_EQ(unhealthy.see(answer("running", "unhealthy")), State::done);
  Awaited lost = awaited("parked");
  v1::StatusResponse nothing;
  nothing.mutable_head()->set_version(9);
  EXPECT_EQ(lost.see(nothing), State::failed);
}

TEST(Awaited, AVersionIsTheOneThatTheAgentHasObserved) {
  Awaited version = awaited("version=5");
  EXPECT_EQ(version.see(answer("running", "")), State::waiting);
  EXPECT_EQ(version.see(answer("running", "healthy", "", 4)), State::waiting);
  EXPECT_EQ(version.see(answer("running", "healthy", "", 5)), State::done);
}

TEST(Awaited, AnAnswerThatIsOlderThanTheRecordSaysNothing) {
  Awaited deleted = awaited("deleted", 12);
  v1::StatusResponse nothing;
  nothing.mutable_head()->set_version(9);
  EXPECT_EQ(deleted.see(nothing), State::waiting);
  nothing.mutable_head()->set_version(12);
  EXPECT_EQ(deleted.see(nothing), State::done);
}

TEST(Awaited, DeletedMeansThatNothingIsLeft) {
  Awaited deleted = awaited("deleted");
  EXPECT_EQ(deleted.see(answer("running", "healthy")), State::waiting);
  EXPECT_EQ(deleted.line(), "deployment/d_1 (eu): not deleted yet, version 5");
  EXPECT_EQ(deleted.see(answer("deleted", "healthy")), State::waiting);
  v1::StatusResponse left;
  left.mutable_head()->set_version(9);
  auto* agent = left.add_agents();
  agent->set_region("eu");
  agent->set_agent("a");
  auto* kind = agent->add_kinds();
  kind->set_kind("deployment");
  kind->mutable_applied()->set_version(4);
  EXPECT_EQ(deleted.see(left), State::waiting) << "its agent has not heard of it";
  kind->mutable_applied()->set_version(5);
  auto* issue = agent->add_issues();
  issue->set_kind("deployment");
  issue->set_id("d_1");
  issue->set_condition("orphaned");
  EXPECT_EQ(deleted.see(left), State::waiting) << "its object is there";
  agent->clear_issues();
  EXPECT_EQ(deleted.see(left), State::done);
}

}  // namespace
}  // namespace davit::host

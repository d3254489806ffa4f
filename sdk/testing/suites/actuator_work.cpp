// What an actuator makes of a cluster: idempotent (T3), removed whole (T4), without a memory (T5),
// and in several calls (T8).
#include "actuator.hpp"

namespace davit::conformance {
namespace {

class ActuatorWork : public Actuator {
 protected:
  // Whether the answer asks for a call that is to come, which is neither an error nor the end.
  static bool goes_on(const actuator::Outcome& o) {
    return !o.error && o.requeue_after.count() > 0;
  }
};

TEST_F(ActuatorWork, T3_WithNothingToDoNothingIsDone) {
  DAVIT_NEEDS_COMMAND("inventory");
  AnyCluster one = cluster(file_.valid);
  build(one);
  const auto built = things();
  EXPECT_FALSE(built.empty()) << "conformance.inventory says nothing of a cluster that was built";
  const auto status = json::parse(one.status);
  for (int i = 0; i < 3; ++i) {
    const auto outcome = caller_->once(Slot::reconcile, one);
    EXPECT_FALSE(outcome.error) << words_of(outcome);
    EXPECT_EQ(things(), built);
    EXPECT_EQ(json::parse(one.status), status) << "the status changes although nothing has";
  }
  remove(one);
}

TEST_F(ActuatorWork, T3_WhatDiffersIsChanged) {
  DAVIT_NEEDS_COMMAND("inventory");
  DAVIT_NEEDS_VALUE(file_.changed, "changed");
  AnyCluster one = cluster(file_.valid);
  build(one);
  const auto first = things();
  one.value = file_.changed;
  build(one);
  const auto second = things();
  EXPECT_NE(second, first) << "nothing has changed, as far as conformance.inventory says";
  build(one);
  EXPECT_EQ(things(), second) << "the second call changes what the first has changed";
  one.value = file_.valid;
  build(one);
  EXPECT_EQ(things().size(), first.size()) << "after the way back";
  remove(one);
  EXPECT_EQ(things().size(), 0u) << "of a cluster that was changed and removed";
}

TEST_F(ActuatorWork, T3_WhatIsMissingIsMadeAgain) {
  DAVIT_NEEDS_COMMAND("inventory");
  DAVIT_NEEDS_COMMAND("damage");
  AnyCluster one = cluster(file_.valid);
  build(one);
  const size_t whole = things().size();
  run("damage");
  ASSERT_LT(things().size(), whole) << "conformance.damage takes nothing away";
  build(one);
  EXPECT_EQ(things().size(), whole);
  run("damage");
  remove(one);
  EXPECT_EQ(things().size(), 0u);
}

TEST_F(ActuatorWork, T3_UnknownFieldsAndBigNumbersAreNoHindrance) {
  AnyCluster one = cluster(file_.valid);
  one.has_more = true;
  build(one);
  build(one);
  remove(one);
}

TEST_F(ActuatorWork, T3_ThePatchIsOfTheStatus) {
  AnyCluster one = cluster(file_.valid);
  build(one);
  if (!file_.invalid.empty()) {
    one.value = file_.invalid[0].value;
    caller_->once(Slot::reconcile, one);
    one.value = file_.valid;
  }
  remove(one);
  for (const ActuatorCall& call : caller_->calls()) {
    const std::string text = call.answer().status_patch;
    if (text.empty()) continue;
    SCOPED_TRACE(text);
    boost::system::error_code bad;
    const json::value patch = json::parse(text, bad);
    ASSERT_TRUE(!bad && patch.is_object()) << "a status_patch is a JSON object";
    for (const auto& [key, value] : patch.as_object())
      EXPECT_TRUE(key == "apiEndpoints" || key == "providerStatus")
          << "an actuator has no part in status." << key;
    const json::value* endpoints = patch.as_object().if_contains("apiEndpoints");
    if (endpoints == nullptr || endpoints->is_null()) continue;
    ASSERT_TRUE(endpoints->is_array());
    for (const json::value& endpoint : endpoints->as_array())
      EXPECT_TRUE(endpoint.is_object() && endpoint.as_object().contains("host") &&
                  endpoint.at("host").is_string() && endpoint.as_object().contains("port") &&
                  endpoint.at("port").is_int64())
          << "an endpoint is {\"host\": text, \"port\": number}";
  }
}

TEST_F(ActuatorWork, T4_RemoveLeavesNothing) {
  DAVIT_NEEDS_COMMAND("inventory");
  AnyCluster one = cluster(file_.valid), other = cluster(file_.valid);
  build(other);
  const auto others = things();
  build(one);
  EXPECT_GT(things().size(), others.size());
  remove(one);
  EXPECT_EQ(things(), others) << "all of this cluster goes, and nothing of another";
  remove(one);
  EXPECT_EQ(things(), others) << "a second time";
  remove(other);
  EXPECT_EQ(things().size(), 0u);
}

TEST_F(ActuatorWork, T4_WhatNeverWasIsRemoved) {
  AnyCluster one = cluster(file_.valid);
  remove(one);
  remove(one);
  build(one);
  remove(one);
}

TEST_F(ActuatorWork, T4_RemoveNeedsNoProviderSpec) {
  std::vector<std::string> values = {"", "null", "{}", "5", "\"text\""};
  for (const auto& invalid : file_.invalid) values.push_back(invalid.value);
  // A caller that does not know who has built a cluster asks all of them to remove it.
  if (!file_.foreign.empty()) values.push_back(file_.foreign);
  for (const std::string& value : values) {
    SCOPED_TRACE(value);
    AnyCluster one = cluster(file_.valid);
    build(one);
    one.value = value;
    remove(one);
    if (is_configured("inventory")) {
      EXPECT_EQ(things().size(), 0u);
    }
  }
}

TEST_F(ActuatorWork, T5_AnotherInstanceGoesOn) {
  DAVIT_NEEDS_COMMAND("inventory");
  if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  const size_t count = things_of_one();
  AnyCluster one = cluster(file_.valid);
  build(one);
  const auto built = things();
  restart();
  build(one);
  EXPECT_EQ(things(), built) << "another instance builds what is there already";
  restart();
  remove(one);
  EXPECT_EQ(things().size(), 0u) << "another instance does not find what is to be removed";
  // One instance for each call.
  AnyCluster two = cluster(file_.takes_long.empty() ? file_.valid : file_.takes_long);
  auto outcome = caller_->once(Slot::reconcile, two);
  for (int i = 0; i < 100 && goes_on(outcome); ++i) {
    restart();
    outcome = caller_->once(Slot::reconcile, two);
  }
  build(two);
  if (file_.takes_long.empty()) {
    EXPECT_EQ(things().size(), count);
  }
  restart();
  remove(two);
  EXPECT_EQ(things().size(), 0u);
}

TEST_F(ActuatorWork, T5_AnOlderClusterIsNoHindrance) {
  DAVIT_NEEDS_COMMAND("inventory");
  const AnyCluster old = cluster(file_.takes_long.empty() ? file_.valid : file_.takes_long);
  AnyCluster one = old;
  build(one);
  const auto built = things();
  // The caller's copy does not have the status yet.
  AnyCluster again = old;
  build(again);
  EXPECT_EQ(things(), built) << "a cluster without its status is built anew";
  if (!file_.changed.empty()) {
    for (const std::string& value : {file_.changed, file_.valid, file_.changed}) {
      AnyCluster older = old;
      older.value = value;
      build(older);
    }
    const auto changed = things();
    one.value = file_.changed;
    build(one);
    EXPECT_EQ(things(), changed);
  }
  AnyCluster gone = old;
  remove(gone);
  EXPECT_EQ(things().size(), 0u) << "what was built stays when the status is not known";
}

TEST_F(ActuatorWork, T8_LongWorkIsBegunAndNotAwaited) {
  DAVIT_NEEDS_VALUE(file_.takes_long, "long");
  AnyCluster one = cluster(file_.takes_long);
  const auto first = caller_->once(Slot::reconcile, one);
  ASSERT_TRUE(goes_on(first)) << "\"long\" is built in more than one call: " << words_of(first);
  build(one);
  if (is_configured("inventory")) {
    const auto built = things();
    build(one);
    EXPECT_EQ(things(), built) << "it was said to be done, and was not";
  }
  remove(one);
}

TEST_F(ActuatorWork, T8_WhatIsNotFinishedIsRemoved) {
  DAVIT_NEEDS_COMMAND("inventory");
  DAVIT_NEEDS_VALUE(file_.takes_long, "long");
  AnyCluster one = cluster(file_.takes_long);
  const auto first = caller_->once(Slot::reconcile, one);
  ASSERT_TRUE(goes_on(first)) << "\"long\" is built in more than one call: " << words_of(first);
  remove(one);
  EXPECT_EQ(things().size(), 0u);
  build(one);
  remove(one);
  EXPECT_EQ(things().size(), 0u) << "it was built and removed once more";
}

}  // namespace
}  // namespace davit::conformance

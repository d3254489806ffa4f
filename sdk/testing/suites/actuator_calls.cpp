// Calls of an actuator: each is answered once (T1), keeps to its caller's limits (T2), and holds no
// other (T7).
#include <algorithm>
#include <cctype>
#include <random>
#include <thread>

#include "actuator.hpp"

namespace davit::conformance {
namespace {

constexpr size_t actuator_crowd = 24;
constexpr ActuatorSlot both_slots[] = {ActuatorSlot::reconcile, ActuatorSlot::remove};

const char* name_of(ActuatorSlot slot) {
  return slot == ActuatorSlot::reconcile ? "reconcile" : "remove";
}

class ActuatorCalls : public Actuator {
 protected:
  std::vector<AnyCluster> crowd() {
    std::vector<AnyCluster> out;
    for (size_t i = 0; i < actuator_crowd; ++i) out.push_back(cluster(file_.valid));
    return out;
  }
  // Each cluster has a caller of its own, and all of them are at work at once.
  std::vector<actuator::Outcome> drive_all(Slot slot, std::vector<AnyCluster>& all) {
    std::vector<actuator::Outcome> outcomes(all.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < all.size(); ++i)
      threads.emplace_back([&, i] {
        ActuatorCaller& own = *callers_[i];
        outcomes[i] = own.drive(slot, all[i]);
      });
    for (auto& t : threads) t.join();
    return outcomes;
  }
  void SetUp() override {
    Actuator::SetUp();
    if (HasFatalFailure()) return;
    for (size_t i = 0; i < actuator_crowd; ++i)
      callers_.push_back(
          std::make_unique<ActuatorCaller>(fresh_->instance().ref(DAVIT_ACTUATOR), fresh_->host()));
  }
  void TearDown() override {
    Actuator::TearDown();
    fresh_.reset();  // before the callers, whose calls it may still answer
  }
  std::vector<std::unique_ptr<ActuatorCaller>> callers_;
  std::deque<ActuatorCall> unread_;  // of clusters that cannot be read
};

TEST_F(ActuatorCalls, T1_EachCallIsAnsweredOnceWhateverElseIsAsked) {
  auto all = crowd();
  if (!file_.invalid.empty()) all[1].value = file_.invalid[0].value;
  if (!file_.foreign.empty()) all[2].value = file_.foreign;
  for (const Slot slot : both_slots) {
    std::vector<ActuatorCall*> open;
    for (size_t i = 0; i < all.size(); ++i) {
      // Some are over before they begin.
      const Operation operation =
          i % 8 == 3 ? Operation(fresh_->host().now().count() - 1) : caller_->in_time();
      if (i % 8 == 4) operation.cancel();
      open.push_back(&caller_->begin(slot, all[i], operation));
    }
    for (ActuatorCall* call : open) caller_->wait(*call);
  }
  fresh_->stop();
  for (const ActuatorCall& call : caller_->calls()) EXPECT_EQ(call.answers(), 1u);
}

TEST_F(ActuatorCalls, T1_StopAnswersWhatIsOpen) {
  for (const AnyCluster& one : crowd()) caller_->begin(Slot::reconcile, one);
  if (!file_.slow.empty()) caller_->begin(Slot::reconcile, cluster(file_.slow));
  const auto stopped = fresh_->instance().stop();
  ASSERT_TRUE(stopped.ok()) << why(stopped);
  for (const ActuatorCall& call : caller_->calls()) EXPECT_EQ(call.answers(), 1u) << "after stop";
  fresh_->stop();
  for (const ActuatorCall& call : caller_->calls())
    EXPECT_EQ(call.answers(), 1u) << "after destroy, and no more than that";
}

TEST_F(ActuatorCalls, T1_WhatIsCalledAfterAStopIsUnavailable) {
  const auto stopped = fresh_->instance().stop();
  ASSERT_TRUE(stopped.ok()) << why(stopped);
  for (const Slot slot : both_slots) {
    const auto outcome = caller_->wait(caller_->begin(slot, cluster(file_.valid)));
    ASSERT_TRUE(outcome.error) << name_of(slot) << ": " << words_of(outcome);
    EXPECT_EQ(outcome.error->code, Code::unavailable) << name_of(slot) << ": " << words_of(outcome);
  }
}

TEST_F(ActuatorCalls, T1_EventsComeBeforeTheAnswer) {
  AnyCluster one = cluster(file_.valid);
  build(one);
  if (!file_.changed.empty()) {
    one.value = file_.changed;
    build(one);
  }
  remove(one);
  fresh_->stop();
  for (const ActuatorCall& call : caller_->calls()) {
    EXPECT_EQ(call.late_events(), 0u) << "an event came when the call had been answered";
    for (const auto& event : call.events()) {
      EXPECT_FALSE(event.message.empty()) << event.reason;
      EXPECT_TRUE(!event.reason.empty() && std::isupper(event.reason[0]) != 0 &&
                  std::all_of(event.reason.begin(), event.reason.end(),
                              [](unsigned char c) { return std::isalnum(c) != 0; }))
          << "\"" << event.reason << "\" is not one word in UpperCamelCase";
    }
  }
}

TEST_F(ActuatorCalls, T1_NobodyHasToHearEvents) {
  AnyCluster one = cluster(file_.valid);
  for (const Slot slot : both_slots) {
    const auto call = [&] {
      return caller_->wait(caller_->begin(slot, one, caller_->in_time(), {0, false}));
    };
    auto outcome = call();
    for (int i = 0; i < 1000 && !outcome.error && !is_done(outcome); ++i) outcome = call();
    EXPECT_TRUE(is_done(outcome)) << name_of(slot) << ": " << words_of(outcome);
  }
}

TEST_F(ActuatorCalls, T1_ACallThatCannotBeReadIsAnswered) {
  const std::string broken[] = {"",
                                "null",
                                "[]",
                                "5",
                                "{",
                                "{}",
                                "{\"spec\":[]}",
                                "{\"spec\":{\"providerSpec\":\"text\"}}",
                                "{\"spec\":{\"providerSpec\":{\"value\":5}}}",
                                "{\"spec\":{\"providerSpec\":{\"value\":null}},\"status\":null}",
                                std::string("{\0}", 3),
                                "\xff\xfe",
                                std::string(2000, '[')};
  for (const std::string& text : broken) {
    SCOPED_TRACE(text.substr(0, 60));
    const AnyCluster one = cluster(file_.valid);
    for (const Slot slot : both_slots) {
      ActuatorCall& call = unread_.emplace_back(caller_->in_time());
      call.begin(fresh_->instance().ref(DAVIT_ACTUATOR), slot, one, text, {});
      caller_->wait(call);
    }
  }
  fresh_->stop();
  for (const ActuatorCall& call : unread_) EXPECT_EQ(call.answers(), 1u);
}

TEST_F(ActuatorCalls, T2_ACallThatIsOverIsAnsweredSo) {
  for (const Slot slot : both_slots) {
    for (const bool cancelled : {false, true}) {
      SCOPED_TRACE(std::string(name_of(slot)) + (cancelled ? ", cancelled" : ", too late"));
      const Operation operation(cancelled ? INT64_MAX : fresh_->host().now().count() - 1);
      if (cancelled) operation.cancel();
      const auto outcome = caller_->wait(caller_->begin(slot, cluster(file_.valid), operation));
      ASSERT_TRUE(outcome.error) << words_of(outcome);
      EXPECT_EQ(outcome.error->code, cancelled ? Code::cancelled : Code::deadline_exceeded)
          << words_of(outcome);
    }
  }
}

TEST_F(ActuatorCalls, T2_TheNextCallFindsWhatWasBegun) {
  DAVIT_NEEDS_COMMAND("inventory");
  const size_t count = things_of_one();
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 12; ++round) {
    AnyCluster one = cluster(file_.valid);
    for (const Slot slot : both_slots) {
      ActuatorCall& call = caller_->begin(slot, one, caller_->in_time());
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      call.operation().cancel();
      const auto outcome = caller_->wait(call);
      EXPECT_TRUE(!outcome.error || outcome.error->code == Code::cancelled) << words_of(outcome);
      if (slot == Slot::reconcile) {
        build(one);
        EXPECT_EQ(things().size(), count) << "after a reconcile that was cancelled";
      } else {
        remove(one);
        EXPECT_EQ(things().size(), 0u) << "after a remove that was cancelled";
      }
    }
  }
}

TEST_F(ActuatorCalls, T2_ACallThatTakesLongHearsTheCancel) {
  DAVIT_NEEDS_VALUE(file_.slow, "slow");
  ActuatorCall& call = caller_->begin(Slot::reconcile, cluster(file_.slow));
  ASSERT_FALSE(call.wait(std::chrono::milliseconds(300)))
      << "\"slow\" of conformance.actuator is not slow: " << words_of(call.answer());
  call.operation().cancel();
  const auto outcome = caller_->wait(call);
  ASSERT_TRUE(outcome.error) << words_of(outcome);
  EXPECT_EQ(outcome.error->code, Code::cancelled) << words_of(outcome);
}

TEST_F(ActuatorCalls, T2_ACallThatTakesLongKeepsItsDeadline) {
  DAVIT_NEEDS_VALUE(file_.slow, "slow");
  const auto deadline = fresh_->host().now() + std::chrono::milliseconds(500);
  const auto outcome = caller_->wait(
      caller_->begin(Slot::reconcile, cluster(file_.slow), Operation(deadline.count())));
  ASSERT_TRUE(outcome.error) << words_of(outcome);
  EXPECT_EQ(outcome.error->code, Code::deadline_exceeded) << words_of(outcome);
}

TEST_F(ActuatorCalls, T7_CallsForSeveralClustersOverlap) {
  DAVIT_NEEDS_COMMAND("inventory");
  const size_t count = things_of_one();
  auto all = crowd();
  for (const auto& outcome : drive_all(Slot::reconcile, all))
    EXPECT_TRUE(is_done(outcome)) << words_of(outcome);
  EXPECT_EQ(things().size(), count * all.size());
  // Half of them go while the others are looked at.
  std::vector<AnyCluster> rest(all.begin() + actuator_crowd / 2, all.end());
  std::thread looks([&] {
    for (AnyCluster& one : rest) callers_.back()->drive(Slot::reconcile, one);
  });
  std::vector<AnyCluster> gone(all.begin(), all.begin() + actuator_crowd / 2);
  for (const auto& outcome : drive_all(Slot::remove, gone))
    EXPECT_TRUE(is_done(outcome)) << words_of(outcome);
  looks.join();
  EXPECT_EQ(things().size(), count * rest.size()) << "those that nobody has removed";
  for (const auto& outcome : drive_all(Slot::remove, rest))
    EXPECT_TRUE(is_done(outcome)) << words_of(outcome);
  EXPECT_EQ(things().size(), 0u);
}

TEST_F(ActuatorCalls, T7_ASlowOneHoldsNoOther) {
  DAVIT_NEEDS_VALUE(file_.slow, "slow");
  ActuatorCall& slow = caller_->begin(Slot::reconcile, cluster(file_.slow));
  auto all = crowd();
  for (const Slot slot : both_slots) {
    for (const auto& outcome : drive_all(slot, all))
      EXPECT_TRUE(is_done(outcome)) << name_of(slot) << ": " << words_of(outcome);
  }
  EXPECT_EQ(slow.answers(), 0u) << "\"slow\" of conformance.actuator is not slow";
  slow.operation().cancel();
}

TEST_F(ActuatorCalls, T9_AnUnknownCriticalFlagIsUnimplemented) {
  for (const Slot slot : both_slots) {
    AnyCluster one = cluster(file_.valid);
    build(one);
    const auto outcome =
        caller_->wait(caller_->begin(slot, one, caller_->in_time(), {0x80000000u, true}));
    ASSERT_TRUE(outcome.error) << name_of(slot) << ": " << words_of(outcome);
    EXPECT_EQ(outcome.error->code, Code::unimplemented) << words_of(outcome);
    const auto hint = caller_->wait(caller_->begin(slot, one, caller_->in_time(), {0x8000u, true}));
    EXPECT_FALSE(hint.error) << "a flag of the lower half may be ignored: " << words_of(hint);
  }
}

}  // namespace
}  // namespace davit::conformance

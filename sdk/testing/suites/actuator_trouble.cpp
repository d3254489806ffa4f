// An actuator in trouble: names that are used again (T6), clusters that cannot be built (T9), a
// provider that is away (T10), and credentials (T11).
#include <cstdlib>

#include "actuator.hpp"

namespace davit::conformance {
namespace {

class ActuatorTrouble : public Actuator {
 protected:
  // Takes the provider away. The end of the test brings it back.
  void take_away() {
    away_ = true;
    run("away");
  }
  void bring_back() {
    if (!away_) return;
    away_ = false;
    run("back");
  }
  void TearDown() override {
    if (fresh_ != nullptr) bring_back();
    Actuator::TearDown();
  }
  bool away_ = false;
};

TEST_F(ActuatorTrouble, T6_ANameOfAnotherIsNeitherTakenNorChanged) {
  DAVIT_NEEDS_COMMAND("inventory");
  AnyCluster first = cluster(file_.valid);
  build(first);
  const auto built = things();
  AnyCluster second = cluster(file_.changed.empty() ? file_.valid : file_.changed, first.name);
  for (int i = 0; i < 2; ++i) {
    const auto outcome = caller_->once(Slot::reconcile, second);
    ASSERT_TRUE(outcome.error) << "of another uid, which has the name: " << words_of(outcome);
    EXPECT_EQ(outcome.error->code, Code::already_exists) << words_of(outcome);
    EXPECT_EQ(things(), built);
    if (!is_volatile()) restart();
  }
  build(first);
  EXPECT_EQ(things(), built);
  remove(first);
  build(second);
  remove(second);
  EXPECT_EQ(things().size(), 0u);
}

TEST_F(ActuatorTrouble, T6_WhatIsOfAnotherIsNotRemoved) {
  DAVIT_NEEDS_COMMAND("inventory");
  AnyCluster first = cluster(file_.valid);
  build(first);
  const auto built = things();
  AnyCluster second = cluster(file_.valid, first.name);
  // There is nothing of this cluster, so it can go.
  const auto outcome = caller_->once(Slot::remove, second);
  EXPECT_FALSE(outcome.error) << words_of(outcome);
  EXPECT_EQ(things(), built) << "what another uid has made was removed";
  remove(first);
  build(second);
  const auto later = things();
  // A call that comes late, of the one that was there before.
  const auto late = caller_->once(Slot::remove, first);
  EXPECT_FALSE(late.error) << words_of(late);
  EXPECT_EQ(things(), later) << "what another uid has made was removed";
  remove(second);
}

TEST_F(ActuatorTrouble, T6_NamespacesKeepNamesApart) {
  DAVIT_NEEDS_COMMAND("inventory");
  const size_t count = things_of_one();
  const std::string tag = cluster(file_.valid).uid.substr(0, 8);
  AnyCluster same_name[] = {
      cluster(file_.valid, "c" + tag, "default"), cluster(file_.valid, "c" + tag, "other"),
      // Together they read alike.
      cluster(file_.valid, "b-c" + tag, "a"), cluster(file_.valid, "c" + tag, "a-b"),
      cluster(file_.valid, "b.c" + tag, "a"), cluster(file_.valid, "c" + tag, "a.b")};
  size_t built = 0;
  for (AnyCluster& one : same_name) {
    build(one);
    EXPECT_EQ(things().size(), count * ++built);
  }
  for (AnyCluster& one : same_name) {
    remove(one);
    EXPECT_EQ(things().size(), count * --built);
  }
}

TEST_F(ActuatorTrouble, T9_WhatCannotBeBuiltIsRefusedWithItsField) {
  DAVIT_NEEDS_VALUE(file_.invalid, "invalid");
  for (const auto& invalid : file_.invalid) {
    SCOPED_TRACE(invalid.value);
    AnyCluster one = cluster(invalid.value);
    const auto outcome = caller_->once(Slot::reconcile, one);
    ASSERT_TRUE(outcome.error) << words_of(outcome);
    EXPECT_EQ(outcome.error->code, Code::invalid_argument) << words_of(outcome);
    EXPECT_EQ(outcome.error->where, invalid.where) << words_of(outcome);
    EXPECT_FALSE(outcome.error->message.empty());
    EXPECT_EQ(outcome.error_reason.find_first_of(" \t\n"), std::string::npos)
        << "an error_reason is one token: " << outcome.error_reason;
    if (is_configured("inventory")) {
      EXPECT_EQ(things().size(), 0u);
    }
  }
}

TEST_F(ActuatorTrouble, T9_WhatCannotBeBuiltLeavesWhatIsThere) {
  DAVIT_NEEDS_COMMAND("inventory");
  DAVIT_NEEDS_VALUE(file_.invalid, "invalid");
  AnyCluster one = cluster(file_.valid);
  build(one);
  const auto built = things();
  for (const auto& invalid : file_.invalid) {
    one.value = invalid.value;
    const auto outcome = caller_->once(Slot::reconcile, one);
    EXPECT_TRUE(outcome.error) << invalid.value << ": " << words_of(outcome);
    EXPECT_EQ(things(), built) << invalid.value;
  }
  one.value = file_.valid;
  remove(one);
}

TEST_F(ActuatorTrouble, T9_AnotherProvidersClusterIsUnimplemented) {
  DAVIT_NEEDS_VALUE(file_.foreign, "foreign");
  AnyCluster one = cluster(file_.foreign);
  const auto outcome = caller_->once(Slot::reconcile, one);
  ASSERT_TRUE(outcome.error) << words_of(outcome);
  EXPECT_EQ(outcome.error->code, Code::unimplemented) << words_of(outcome);
  if (is_configured("inventory")) {
    EXPECT_EQ(things().size(), 0u);
  }
}

TEST_F(ActuatorTrouble, T10_WhatCannotBeSeenIsNotRemoved) {
  DAVIT_NEEDS_COMMAND("inventory");
  DAVIT_NEEDS_COMMAND("away");
  DAVIT_NEEDS_COMMAND("back");
  AnyCluster one = cluster(file_.valid), never = cluster(file_.valid);
  build(one);
  const auto built = things();
  take_away();
  for (AnyCluster* blind : {&one, &never}) {
    for (const Slot slot : {Slot::remove, Slot::reconcile}) {
      const auto soon = fresh_->host().now() + std::chrono::seconds(3);
      const auto outcome = caller_->wait(caller_->begin(slot, *blind, Operation(soon.count())));
      EXPECT_TRUE(outcome.error) << (slot == Slot::remove ? "remove" : "reconcile")
                                 << " while the provider is away: " << words_of(outcome);
      // Neither is the cluster's fault.
      if (outcome.error) {
        EXPECT_NE(outcome.error->code, Code::invalid_argument) << words_of(outcome);
        EXPECT_NE(outcome.error->code, Code::unimplemented) << words_of(outcome);
      }
    }
  }
  bring_back();
  EXPECT_EQ(things(), built);
  remove(one);
  EXPECT_EQ(things().size(), 0u);
}

// All that an instance says, for people.
std::string said_in(const std::deque<ActuatorCall>& calls) {
  std::string out;
  for (const ActuatorCall& call : calls) {
    if (call.answers() == 0) continue;
    const auto o = call.answer();
    if (o.error) out += o.error->message + "\n" + o.error->where + "\n";
    out += o.status_patch + "\n" + o.progress + "\n" + o.error_reason + "\n";
    for (const auto& event : call.events()) out += event.reason + "\n" + event.message + "\n";
  }
  return out;
}

TEST_F(ActuatorTrouble, T11_NothingIsShown) {
  DAVIT_NEEDS_VALUE(file_.hidden, "hidden");
  std::deque<ActuatorCall> cut;
  for (const auto& hidden : file_.hidden) {
    ASSERT_NE(hidden.value.find(hidden.text), std::string::npos)
        << "\"hidden\" of conformance.actuator: its value does not have its text";
    AnyCluster one = cluster(hidden.value);
    caller_->drive(Slot::reconcile, one);
    AnyCluster other = cluster(hidden.value, one.name);  // perhaps refused (T6)
    caller_->once(Slot::reconcile, other);
    if (is_configured("away") && is_configured("back")) {
      take_away();
      const auto soon = fresh_->host().now() + std::chrono::seconds(3);
      caller_->wait(caller_->begin(Slot::reconcile, one, Operation(soon.count())));
      bring_back();
    }
    // A parser that quotes what it cannot read quotes the credential.
    const std::string text = one.json();
    for (const Slot slot : {Slot::reconcile, Slot::remove}) {
      ActuatorCall& call = cut.emplace_back(caller_->in_time());
      call.begin(fresh_->instance().ref(DAVIT_ACTUATOR), slot, one,
                 text.substr(0, text.find(hidden.text) + hidden.text.size()), {});
      caller_->wait(call);
    }
    caller_->drive(Slot::remove, one);
  }
  std::string said = said_in(caller_->calls()) + said_in(cut) + fresh_->host().health_reason();
  for (const auto& line : fresh_->host().log()) said += line.text() + "\n";
  fresh_->stop();
  for (const auto& hidden : file_.hidden)
    EXPECT_EQ(said.find(hidden.text), std::string::npos)
        << "an error, an event, a status or a log line has the credential";
}

}  // namespace
}  // namespace davit::conformance

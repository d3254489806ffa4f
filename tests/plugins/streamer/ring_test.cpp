#include <gtest/gtest.h>

#include "ring.hpp"

namespace davit::streamer {
namespace {

const Topic eu{"widget", "eu"};
const Topic us{"widget", "us"};

Change change(Version version, Verb verb = Verb::apply, size_t size = 0) {
  return {version, "id" + to_string(version), "ns", "name", verb, std::string(size, 'x')};
}

// Encodes as the versions, so that a test can read a frame. Counts how often it is asked.
class RingTest : public ::testing::Test {
 protected:
  Encoding encoding(size_t records_max, bool by_id) {
    return {records_max, 1000, by_id, [this](const Topic&, std::span<const Change* const> changes) {
              ++encoded_;
              std::string out;
              for (const Change* c : changes) out += to_string(c->version) + " ";
              return Buffer::of(out);
            }};
  }
  std::string text(const Ring::Step& s) { return std::string(s.frame.view()); }
  void add(Ring& ring, const Topic& topic, Version version, Verb verb = Verb::apply,
           size_t size = 0) {
    ring.append(topic, change(version, verb, size));
    ring.advance({1, version});
  }

  int encoded_ = 0;
  Ring ring_{1 << 20, {encoding(3, true), encoding(1, false)}};
};

TEST_F(RingTest, IsUnreadyUntilItKnowsWhereTheStoreIs) {
  EXPECT_EQ(ring_.next(eu, {1, 5}, 0).place, Ring::Place::unready);
}

TEST_F(RingTest, PassesOverADeleteWithoutANameWhereThePeerKnowsNothingElse) {
  ring_.reset({1, 10});
  ring_.append(eu, {11, "id11", {}, {}, Verb::remove, {}});
  ring_.append(eu, change(12));
  ring_.advance({1, 12});
  EXPECT_EQ(text(ring_.next(eu, {1, 10}, 0)), "11 12 ");
  EXPECT_EQ(text(ring_.next(eu, {1, 10}, 1)), "12 ");
}

TEST_F(RingTest, GivesWhatFollowsTheCursorOfOneTopicOnly) {
  ring_.reset({1, 10});
  add(ring_, eu, 11);
  add(ring_, us, 12);
  add(ring_, eu, 13);
  auto step = ring_.next(eu, {1, 10}, 0);
  EXPECT_EQ(step.place, Ring::Place::frame);
  EXPECT_EQ(text(step), "11 13 ");
  EXPECT_TRUE(step.caught_up);
  EXPECT_EQ(step.after, (Cursor{1, 13}));
  EXPECT_EQ(text(ring_.next(eu, {1, 11}, 0)), "13 ");
}

TEST_F(RingTest, HoldsTheStreamsOfOneKindWhereItIs) {
  const Topic other{"gadget", "eu"};
  ring_.reset({1, 10});
  ring_.hold("widget", 10);  // 11 is a widget, and its kind has not been asked
  add(ring_, other, 12);
  auto step = ring_.next(eu, {1, 10}, 0);
  EXPECT_EQ(step.place, Ring::Place::at_tip);
  EXPECT_EQ(step.after, (Cursor{1, 10}));
  EXPECT_FALSE(step.caught_up);
  EXPECT_EQ(ring_.next(us, {1, 9}, 0).place, Ring::Place::behind) << "it is below the floor";
  EXPECT_EQ(text(ring_.next(other, {1, 10}, 0)), "12 ");
  ring_.append(eu, change(11));
  ring_.hold("widget", 11);
  step = ring_.next(eu, {1, 10}, 0);
  EXPECT_EQ(text(step), "11 ");
  EXPECT_EQ(step.after, (Cursor{1, 11}));
  EXPECT_FALSE(step.caught_up);
  EXPECT_EQ(ring_.next(eu, {1, 12}, 0).after, (Cursor{1, 12})) << "it has read the store";
  ring_.release("widget");
  EXPECT_EQ(ring_.next(eu, {1, 11}, 0).after, (Cursor{1, 12}));
  EXPECT_TRUE(ring_.next(eu, {1, 11}, 0).caught_up);
}

TEST_F(RingTest, WhatComesLateLowersNoFloorAndEndsNoGap) {
  const Topic other{"gadget", "eu"};
  Ring ring(600, {encoding(3, true)});
  ring.reset({1, 10});
  ring.hold("widget", 10);
  for (uint64_t v = 12; v < 30; ++v) add(ring, other, Version(v), Verb::apply, 50);
  const Version floor = ring.floor().version;
  ASSERT_GT(floor, Version(12));
  ring.append(eu, change(11));
  for (uint64_t v = 30; v < 32; ++v) add(ring, other, Version(v), Verb::apply, 300);
  EXPECT_GE(ring.floor().version, floor);
  EXPECT_EQ(ring.next(eu, {1, 10}, 0).place, Ring::Place::behind);

  ring_.reset({1, 10});
  ring_.leave_out(eu, 20);
  ring_.leave_out(eu, 15);
  ring_.advance({1, 20});
  EXPECT_EQ(ring_.next(eu, {1, 17}, 0).place, Ring::Place::behind);
  EXPECT_EQ(ring_.next(eu, {1, 20}, 0).place, Ring::Place::at_tip);
}

TEST_F(RingTest, SaysWhenAChangeWasCommittedToWhoeverIsGivenItFirst) {
  ring_.reset({1, 10});
  for (uint64_t v : {11, 12}) {
    Change c = change(Version(v));
    c.committed_at_unix_ms = static_cast<int64_t>(100 * v);
    ring_.append(eu, c);
  }
  ring_.advance({1, 12});
  EXPECT_EQ(ring_.next(eu, {1, 10}, 0).committed_at_unix_ms, 1200);
  // To others, from the same place, from another one and in another encoding, it is no news.
  EXPECT_FALSE(ring_.next(eu, {1, 10}, 0).committed_at_unix_ms);
  EXPECT_FALSE(ring_.next(eu, {1, 11}, 0).committed_at_unix_ms);
  EXPECT_FALSE(ring_.next(eu, {1, 10}, 1).committed_at_unix_ms);
  add(ring_, eu, 13);
  EXPECT_TRUE(ring_.next(eu, {1, 12}, 0).committed_at_unix_ms);
}

TEST_F(RingTest, MovesTheCursorOverOtherTopics) {
  ring_.reset({1, 10});
  add(ring_, us, 12);
  auto step = ring_.next(eu, {1, 10}, 0);
  EXPECT_EQ(step.place, Ring::Place::at_tip);
  EXPECT_EQ(step.after, (Cursor{1, 12}));
}

TEST_F(RingTest, CutsFramesByRecordsAndSaysWhetherMoreFollows) {
  ring_.reset({1, 0});
  for (uint64_t v = 1; v <= 5; ++v) add(ring_, eu, Version(v));
  auto step = ring_.next(eu, {1, 0}, 0);
  EXPECT_EQ(text(step), "1 2 3 ");
  EXPECT_FALSE(step.caught_up);
  EXPECT_EQ(step.after, (Cursor{1, 3}));
  EXPECT_EQ(text(ring_.next(eu, step.after, 0)), "4 5 ");
}

TEST_F(RingTest, CutsFramesByBytesButNeverBelowOneRecord) {
  ring_.reset({1, 0});
  add(ring_, eu, 1, Verb::apply, 5000);
  add(ring_, eu, 2, Verb::apply, 600);
  add(ring_, eu, 3, Verb::apply, 600);
  EXPECT_EQ(text(ring_.next(eu, {1, 0}, 0)), "1 ");
  EXPECT_EQ(text(ring_.next(eu, {1, 1}, 0)), "2 ");
}

TEST_F(RingTest, EncodesOnceForAllAtTheSamePlace) {
  ring_.reset({1, 10});
  add(ring_, eu, 11);
  auto first = ring_.next(eu, {1, 10}, 0);
  auto second = ring_.next(eu, {1, 9 + 1}, 0);
  EXPECT_EQ(first.frame.get(), second.frame.get());
  EXPECT_EQ(encoded_, 1);
}

TEST_F(RingTest, AFrameMadeBeforeMoreCameLeavesTheRestToTheNext) {
  ring_.reset({1, 10});
  add(ring_, eu, 11);
  ring_.next(eu, {1, 10}, 0);
  add(ring_, eu, 12);
  auto late = ring_.next(eu, {1, 10}, 0);
  EXPECT_EQ(text(late), "11 ");
  EXPECT_FALSE(late.caught_up);
  EXPECT_EQ(text(ring_.next(eu, late.after, 0)), "12 ");
}

TEST_F(RingTest, PassesOverHoldsForProtocolsWithoutThem) {
  ring_.reset({1, 10});
  add(ring_, eu, 11, Verb::hold);
  EXPECT_EQ(ring_.next(eu, {1, 10}, 1).place, Ring::Place::at_tip);
  EXPECT_EQ(text(ring_.next(eu, {1, 10}, 0)), "11 ");
  add(ring_, eu, 12);
  EXPECT_EQ(text(ring_.next(eu, {1, 10}, 1)), "12 ");
}

TEST_F(RingTest, CursorsBelowTheFloorReadTheStore) {
  Ring small(3 * change(11).bytes(), {encoding(9, true)});
  small.reset({1, 10});
  for (uint64_t v = 11; v <= 20; ++v) add(small, eu, Version(v));
  EXPECT_EQ(small.floor().version, Version(17));
  EXPECT_EQ(small.next(eu, {1, 16}, 0).place, Ring::Place::behind);
  EXPECT_EQ(text(small.next(eu, {1, 17}, 0)), "18 19 20 ");
  EXPECT_LE(small.bytes(), 3 * change(11).bytes());
}

TEST_F(RingTest, WhatIsEvictedInOneTopicRaisesTheFloorForAll) {
  Ring small(3 * change(11).bytes(), {encoding(9, true)});
  small.reset({1, 10});
  add(small, us, 11);
  for (uint64_t v = 12; v <= 15; ++v) add(small, eu, Version(v));
  EXPECT_EQ(small.next(us, {1, 10}, 0).place, Ring::Place::behind);
}

TEST_F(RingTest, AnOversizedRecordIsKeptAlone) {
  Ring small(100, {encoding(9, true)});
  small.reset({1, 10});
  add(small, eu, 11, Verb::apply, 5000);
  add(small, eu, 12, Verb::apply, 5000);
  EXPECT_EQ(text(small.next(eu, {1, 11}, 0)), "12 ");
}

TEST_F(RingTest, CursorsOfAnotherIncarnationReadTheStore) {
  ring_.reset({1, 10});
  EXPECT_EQ(ring_.next(eu, {2, 10}, 0).place, Ring::Place::behind);
  ring_.advance({2, 10});
  EXPECT_EQ(ring_.next(eu, {1, 10}, 0).place, Ring::Place::behind);
  EXPECT_EQ(ring_.next(eu, {2, 10}, 0).place, Ring::Place::at_tip);
}

TEST_F(RingTest, DoesNotJudgeACursorAboveItsTip) {
  ring_.reset({1, 10});
  EXPECT_EQ(ring_.next(eu, {1, 15}, 0).place, Ring::Place::ahead);
  EXPECT_EQ(ring_.next(eu, {1, 10}, 0).place, Ring::Place::at_tip);
}

TEST_F(RingTest, ResetForgetsEverything) {
  ring_.reset({1, 10});
  add(ring_, eu, 11);
  ring_.reset({2, 5});
  EXPECT_EQ(ring_.bytes(), 0u);
  EXPECT_EQ(ring_.next(eu, {2, 5}, 0).place, Ring::Place::at_tip);
}

// A kind could not classify a change, so the store has to be asked until it can.
TEST(Ring, WhatIsLeftOutMakesStreamsBeforeItReadTheStore) {
  Ring ring(1 << 20, {Encoding{128, 64 * 1024, true, [](const Topic&, auto) { return Buffer(); }}});
  const Topic topic = eu, other = us;
  ring.reset({1, 10});
  ring.leave_out(topic, 11);
  ring.append(topic, change(12));
  ring.advance({1, 12});
  EXPECT_EQ(ring.next(topic, {1, 10}, 0).place, Ring::Place::behind);
  EXPECT_EQ(ring.next(topic, {1, 11}, 0).place, Ring::Place::frame) << "the store has told it";
  EXPECT_EQ(ring.next(other, {1, 10}, 0).place, Ring::Place::at_tip);
  ring.reset({2, 10});
  EXPECT_EQ(ring.next(topic, {2, 10}, 0).place, Ring::Place::at_tip);
}

// The ring calls no kind: what a kind was not asked for in time is read from the store.
TEST(Ring, GivesWhatAKindHasMadeAndSendsOthersToTheStore) {
  const auto make = [](const Topic&, const Change&) -> Result<Buffer> {
    ADD_FAILURE() << "the ring calls a kind";
    return Buffer();
  };
  Ring ring(1 << 20, {Encoding{1, 0, false, {}, make}});
  ring.reset({1, 10});
  Change made = change(11);
  made.made = {Buffer::of("eleven")};
  ring.append(eu, made);
  ring.append(eu, change(12));
  ring.advance({1, 12});
  const auto step = ring.next(eu, {1, 10}, 0);
  EXPECT_EQ(step.frame.view(), "eleven");
  EXPECT_EQ(step.after.version, Version(11));
  EXPECT_EQ(ring.next(eu, {1, 11}, 0).place, Ring::Place::behind);
}

}  // namespace
}  // namespace davit::streamer

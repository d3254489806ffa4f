#include <gtest/gtest.h>

#include "decision.hpp"

namespace davit::desired {
namespace {

const Key the_key{"widget", "eu", "w_1"};

Record record(const std::string& payload, const std::string& state = "running", bool live = true) {
  Record r;
  r.key = {"widget", "eu", "w_1"};
  r.ns = "shop";
  r.name = "one";
  r.state = state;
  r.live = live;
  r.payload = payload;
  r.annotations = {{"a", "1"}, {"b", "2"}};
  return r;
}

Record stored(Record r, Version version) {
  r.version = version;
  return r;
}

bool same_bytes(std::string_view a, std::string_view b) {
  return a == b;
}

TEST(DecideApply, WhatIsNotThereIsCreatedAndMustStillNotBeThere) {
  auto d = decide_apply(record("x"), std::nullopt, same_bytes);
  EXPECT_EQ(d.type, OutcomeType::created);
  ASSERT_TRUE(d.mutation);
  EXPECT_EQ(d.mutation->expect, Version(0));
}

TEST(DecideApply, TheSameChangesNothing) {
  auto d = decide_apply(record("x"), stored(record("x"), 7), same_bytes);
  EXPECT_EQ(d.type, OutcomeType::unchanged);
  EXPECT_EQ(d.version, Version(7));
  EXPECT_FALSE(d.mutation);
}

TEST(DecideApply, TheSameIsCommittedOnceMoreOnRequest) {
  auto d = decide_apply(record("x"), stored(record("x"), 7), same_bytes, true);
  EXPECT_EQ(d.type, OutcomeType::applied);
  ASSERT_TRUE(d.mutation);
  EXPECT_EQ(d.mutation->expect, Version(7));
  EXPECT_EQ(decide_apply(record("x"), stored(record("y"), 7), same_bytes, true).type,
            OutcomeType::changed);
  EXPECT_EQ(decide_apply(record("x"), std::nullopt, same_bytes, true).type, OutcomeType::created);
}

TEST(DecideApply, OrderOfAnnotationsDoesNotCount) {
  Record other = record("x");
  std::swap(other.annotations[0], other.annotations[1]);
  EXPECT_EQ(decide_apply(record("x"), stored(other, 7), same_bytes).type, OutcomeType::unchanged);
}

TEST(DecideApply, PayloadsAreComparedByMeaning) {
  auto always = [](std::string_view, std::string_view) { return true; };
  EXPECT_EQ(decide_apply(record("x"), stored(record("y"), 7), always).type, OutcomeType::unchanged);
}

TEST(DecideApply, ChangedPayloadStateOrAnnotationsAreCommittedOnWhatWasRead) {
  Record annotated = record("x");
  annotated.annotations.clear();
  for (const Record& other : {record("y"), record("x", "archived"), annotated}) {
    auto d = decide_apply(record("x"), stored(other, 7), same_bytes);
    EXPECT_EQ(d.type, OutcomeType::changed);
    ASSERT_TRUE(d.mutation);
    EXPECT_EQ(d.mutation->expect, Version(7));
    EXPECT_EQ(d.mutation->record.payload, "x");
  }
}

TEST(DecideApply, WhatWasDeletedIsCreatedAgainOverItsTombstone) {
  auto d = decide_apply(record("x"), stored(record("x", "deleted", false), 7), same_bytes);
  EXPECT_EQ(d.type, OutcomeType::created);
  ASSERT_TRUE(d.mutation);
  EXPECT_EQ(d.mutation->expect, Version(7));
  EXPECT_TRUE(d.mutation->record.live);
}

TEST(DecideDelete, KeepsThePayloadInTheTombstone) {
  auto d = decide_delete(the_key, stored(record("x"), 7), "alice");
  EXPECT_EQ(d.type, OutcomeType::deleted);
  ASSERT_TRUE(d.mutation);
  EXPECT_EQ(d.mutation->expect, Version(7));
  EXPECT_EQ(d.mutation->record.state, "deleted");
  EXPECT_FALSE(d.mutation->record.live);
  EXPECT_EQ(d.mutation->record.payload, "x");
  EXPECT_EQ(d.mutation->record.name, "one");
  EXPECT_EQ(d.mutation->record.author, "alice");
}

TEST(DecideDelete, WhatIsNotThereOrDeletedAlreadyIsAbsent) {
  EXPECT_EQ(decide_delete(the_key, std::nullopt, "a").type, OutcomeType::absent);
  auto again = decide_delete(the_key, stored(record("x", "deleted", false), 7), "a");
  EXPECT_EQ(again.type, OutcomeType::absent);
  EXPECT_FALSE(again.mutation);
}

TEST(DecideDelete, AnArchivedRecordCanStillBeDeleted) {
  EXPECT_TRUE(decide_delete(the_key, stored(record("x", "archived", false), 7), "a").mutation);
}

TEST(DecideDelete, WhatAnAgentFoundOrphanedGetsATombstoneOfItsName) {
  const Issue orphan{"widget", "w_1", "shop", "one", 3, "orphaned", "not named"};
  auto d = decide_delete(the_key, std::nullopt, "alice", &orphan);
  EXPECT_EQ(d.type, OutcomeType::deleted);
  EXPECT_EQ(d.note, "an orphan: its agent removes shop/one");
  ASSERT_TRUE(d.mutation);
  EXPECT_EQ(d.mutation->expect, Version(0));
  EXPECT_EQ(d.mutation->record.key, the_key);
  EXPECT_EQ(d.mutation->record.ns + "/" + d.mutation->record.name, "shop/one");
  EXPECT_EQ(d.mutation->record.state, "deleted");
  EXPECT_FALSE(d.mutation->record.live);
  d = decide_delete(the_key, stored(record("x", "deleted", false), 7), "alice", &orphan);
  ASSERT_TRUE(d.mutation) << "its own tombstone is older than the object";
  EXPECT_EQ(d.mutation->expect, Version(7));
  d = decide_delete(the_key, stored(record("x"), 7), "alice", &orphan);
  EXPECT_EQ(d.note, "") << "the record lives";
}

}  // namespace
}  // namespace davit::desired

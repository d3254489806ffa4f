// Role records: watches (R10 to R13).
#include "records.hpp"

namespace davit::conformance {
namespace {

using RecordsWatch = Records;
constexpr uint32_t plenty = 100'000;

TEST_F(RecordsWatch, R10_NoEventComesWithoutCredit) {
  for (int n = 0; n < 5; ++n) put(document(std::to_string(n)));
  RecordsSeen poor(ref_, all_of_region(), 2), none(ref_, all_of_region(), 0);
  RecordsSeen rich(ref_, all_of_region(), plenty);
  ASSERT_TRUE(poor.wait_for("1"));
  put(document("5"));
  ASSERT_TRUE(rich.wait_for("5")) << rich.text();
  EXPECT_EQ(poor.text(), "0 1");
  EXPECT_EQ(none.text(), "");
  poor.credit(1);
  ASSERT_TRUE(poor.wait_for("2")) << poor.text();
  put(document("6"));
  ASSERT_TRUE(rich.wait_for("6")) << rich.text();
  EXPECT_EQ(poor.events(), 3u);
  poor.credit(plenty);
  ASSERT_TRUE(poor.wait_for("6")) << poor.text();
  EXPECT_EQ(none.events(), 0u);
}

TEST_F(RecordsWatch, R10_CreditMayBeGrantedInAnEvent) {
  for (int n = 0; n < 20; ++n) put(document(std::to_string(n)));
  RecordsSeen seen(ref_, all_of_region(), 1, [](RecordsSeen& s, size_t) { s.credit(1); });
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  put(document("new"));
  EXPECT_TRUE(seen.wait_for("new")) << seen.text();
}

TEST_F(RecordsWatch, R10_WhatChangesWithoutCreditIsToldOnceAsItIs) {
  RecordsSeen slow(ref_, all_of_region(), 1);
  ASSERT_TRUE(slow.wait_for("SYNCED"));
  Cursor last;
  for (int n = 1; n <= 50; ++n) last = put(document("a", n));
  slow.credit(plenty);
  put(document("b"));
  ASSERT_TRUE(slow.wait_for("b")) << slow.text();
  const auto words = slow.words();
  EXPECT_LE(std::count(words.begin(), words.end(), "a"), 2) << slow.text();
  Version newest;
  for (const auto& e : slow.all()) {
    if (e.record && e.record->key.id == "a") newest = e.record->version;
  }
  EXPECT_EQ(newest, last.version);
}

TEST_F(RecordsWatch, R11_NamesWhatExistsThenSyncedThenEachChange) {
  put(document("a"));
  put(document("b"));
  put(document("dead"));
  put(removal("dead"));
  put(in_other_region(document("elsewhere")));
  RecordsSeen seen(ref_, all_of_region(), plenty);
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  EXPECT_EQ(seen.text(), "a b SYNCED");
  put(document("c"));
  put(in_other_region(document("a")));
  put(document("a", 2));
  put(removal("b"));
  ASSERT_TRUE(seen.wait_for("-b")) << seen.text();
  EXPECT_EQ(seen.text().substr(0, 10), "a b SYNCED");
  EXPECT_TRUE(seen.wait_for("a", 2) && seen.wait_for("c"));
  Version version{};
  for (const auto& e : seen.all()) {
    if (e.type != DAVIT_RECORDS_EVENT_RECORD) continue;
    EXPECT_GT(e.record->version, version);
    version = e.record->version;
    EXPECT_EQ(e.record->key.region, sample_.region);
  }
}

TEST_F(RecordsWatch, R11_OfNothingItSaysSyncedAtOnce) {
  RecordsSeen seen(ref_, all_of_region(), plenty);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  put(document("a"));
  ASSERT_TRUE(seen.wait_for("a")) << seen.text();
  EXPECT_EQ(seen.text(), "SYNCED a");
}

TEST_F(RecordsWatch, R11_NamesTheDeadWhenAsked) {
  put(document("a"));
  put(removal("a"));
  records::Read read = all_of_region();
  read.deleted = true;
  RecordsSeen seen(ref_, read, plenty);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  EXPECT_EQ(seen.text(), "-a SYNCED");
}

TEST_F(RecordsWatch, R11_FromThePositionOfAnEventNothingIsMissed) {
  put(document("a"));
  put(document("b"));
  Cursor synced, later;
  {
    RecordsSeen seen(ref_, all_of_region(), plenty);
    ASSERT_TRUE(seen.wait_for("a") && seen.wait_for("b") && seen.wait_for("SYNCED"));
    for (const auto& e : seen.all()) {
      if (e.type == DAVIT_RECORDS_EVENT_RECORD) {
        EXPECT_EQ(e.at.version, Version(0)) << "what a snapshot has begun with";
      }
    }
    synced = seen.at();
    put(document("c"));
    ASSERT_TRUE(seen.wait_for("c"));
    later = seen.at();
  }
  put(removal("a"));
  put(document("b", 2));
  records::Read read = all_of_region();
  read.after = synced;
  RecordsSeen from_synced(ref_, read, plenty);
  read.after = later;
  RecordsSeen from_later(ref_, read, plenty);
  ASSERT_TRUE(from_synced.wait_for("b")) << from_synced.text();
  ASSERT_TRUE(from_later.wait_for("b")) << from_later.text();
  EXPECT_EQ(from_synced.text(), "c -a b");
  EXPECT_EQ(from_later.text(), "-a b");
  put(document("d"));
  ASSERT_TRUE(from_later.wait_for("d"));
}

TEST_F(RecordsWatch, R11_ABookmarkMovesThePositionOfAQuietWatch) {
  put(document("a"));
  RecordsSeen seen(ref_, all_of_region(), plenty);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  const Cursor other = put(in_other_region(document("elsewhere")));
  EXPECT_TRUE(
      fresh_->host().run_until([&] { return seen.at() >= other; }, std::chrono::seconds(30)));
  records::Read read = all_of_region();
  read.after = seen.at();
  put(document("b"));
  RecordsSeen next(ref_, read, plenty);
  ASSERT_TRUE(next.wait_for("b"));
  EXPECT_EQ(next.text(), "b");
}

TEST_F(RecordsWatch, R11_APositionOutlivesARestart) {
  if (is_volatile()) GTEST_SKIP() << "nothing outlives an instance";
  put(document("a"));
  records::Read read = all_of_region();
  {
    RecordsSeen seen(ref_, read, plenty);
    ASSERT_TRUE(seen.wait_for("SYNCED"));
    read.after = seen.at();
  }
  put(removal("a"));
  restart();
  put(document("b"));
  RecordsSeen seen(ref_, read, plenty);
  ASSERT_TRUE(seen.wait_for("b")) << seen.text();
  EXPECT_EQ(seen.text(), "-a b");
}

TEST_F(RecordsWatch, R12_ACursorOfAnotherHistoryEndsIt) {
  const Cursor at = put(document("a"));
  for (const Cursor wrong : {Cursor{at.incarnation, at.version + 1000},
                             Cursor{Incarnation(at.incarnation.value() ^ 1), at.version}}) {
    records::Read read = all_of_region();
    read.after = wrong;
    RecordsSeen seen(ref_, read, plenty);
    ASSERT_TRUE(seen.wait_for_end());
    ASSERT_TRUE(seen.why());
    EXPECT_EQ(seen.why()->code, Code::out_of_range);
    EXPECT_EQ(seen.text(), "");
  }
}

TEST_F(RecordsWatch, R13_CancelEndsItOnce) {
  RecordsSeen seen(ref_, all_of_region(), plenty), other(ref_, all_of_region(), plenty);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  seen.cancel();
  ASSERT_TRUE(seen.wait_for_end());
  EXPECT_FALSE(seen.why()) << seen.why()->message;
  put(document("a"));
  ASSERT_TRUE(other.wait_for("a"));
  EXPECT_TRUE(fresh_->instance().stop().ok());
  EXPECT_EQ(seen.ends(), 1u);
  EXPECT_EQ(seen.late(), 0u);
}

TEST_F(RecordsWatch, R13_CancelMayComeInAnEvent) {
  for (int n = 0; n < 50; ++n) put(document(std::to_string(n)));
  RecordsSeen seen(ref_, all_of_region(), 1, [](RecordsSeen& s, size_t so_far) {
    if (so_far == 3) return s.cancel();
    if (so_far < 3) s.credit(1);
  });
  ASSERT_TRUE(seen.wait_for_end());
  EXPECT_EQ(seen.events(), 3u);
  EXPECT_TRUE(fresh_->instance().stop().ok());  // nothing can come any more
  EXPECT_EQ(seen.late(), 0u);
}

TEST_F(RecordsWatch, R13_AStopEndsItWithAReasonBeforeItReturns) {
  RecordsSeen rich(ref_, all_of_region(), plenty), poor(ref_, all_of_region(), 0);
  ASSERT_TRUE(rich.wait_for("SYNCED"));
  ASSERT_TRUE(fresh_->instance().stop().ok());
  for (RecordsSeen* seen : {&rich, &poor}) {
    ASSERT_EQ(seen->ends(), 1u);
    ASSERT_TRUE(seen->why());
    EXPECT_EQ(seen->why()->code, Code::unavailable);
    EXPECT_EQ(seen->late(), 0u);
  }
}

}  // namespace
}  // namespace davit::conformance

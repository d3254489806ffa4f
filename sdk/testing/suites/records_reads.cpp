// Role records: get and list (R9, R12).
#include <set>

#include "records.hpp"

namespace davit::conformance {
namespace {

using RecordsReads = Records;

TEST_F(RecordsReads, R9_ARecordIsFoundByItsIdAndByItsName) {
  const Cursor at = put(document("a"));
  const Key unnamed = key("");
  for (const Query& query : {Query{key("a"), {}, {}}, Query{unnamed, sample_.ns, named("a")},
                             Query{unnamed, {}, named("a")}}) {
    const auto found = get(query);
    ASSERT_TRUE(found.ok()) << why(found);
    ASSERT_EQ(found->records.size(), 1u);
    const Record& r = found->records[0];
    EXPECT_EQ(r.key, key("a"));
    EXPECT_EQ(r.ns, sample_.ns);
    EXPECT_EQ(r.name, named("a"));
    EXPECT_EQ(r.version, at.version);
    EXPECT_TRUE(r.live);
    EXPECT_EQ(found->head, at);
  }
  for (const Query& query : {Query{key("b"), {}, {}}, Query{unnamed, "elsewhere", named("a")}}) {
    const auto found = get(query);
    ASSERT_TRUE(found.ok()) << why(found);
    EXPECT_TRUE(found->records.empty());
  }
}

TEST_F(RecordsReads, R9_ADeletedRecordIsFoundByItsIdAlone) {
  put(document("a"));
  const Cursor at = put(removal("a"));
  const Record dead = stored("a");
  EXPECT_EQ(dead.state, "deleted");
  EXPECT_FALSE(dead.live);
  EXPECT_EQ(dead.version, at.version);
  EXPECT_TRUE(get({key(""), sample_.ns, named("a")})->records.empty());
}

TEST_F(RecordsReads, R9_AQuestionWithoutAKeyIsRefused) {
  for (const Query& query : {Query{}, Query{{sample_.kind, {}, "a"}, {}, {}},
                             Query{{{}, sample_.region, "a"}, {}, {}}, Query{key(""), "ns", {}}}) {
    const auto found = get(query);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, Code::invalid_argument);
  }
}

TEST_F(RecordsReads, R9_TheJsonOfARecordIsItsSpec) {
  put(document("a", 7));
  auto again = document("a");
  again.spec = stored("a").json;
  EXPECT_EQ(outcomes(apply({again})), "unchanged");
  again = document("a");
  again.spec = list(all_of_region())->records.at(0).json;
  EXPECT_EQ(outcomes(apply({again})), "unchanged");
}

TEST_F(RecordsReads, R9_WhatIsCommittedIsReadByWhoeverAsksNext) {
  for (int n = 1; n < 20; ++n) {
    const Cursor at = put(document("a", n));
    ASSERT_EQ(stored("a").version, at.version);
    ASSERT_EQ(list(all_of_region())->records.at(0).version, at.version);
  }
}

TEST_F(RecordsReads, R9_AListNamesEachRecordOnceInAscendingOrder) {
  std::set<std::string> wanted;
  for (int n = 0; n < 25; ++n) {
    put(document(std::to_string(n)));
    wanted.insert(std::to_string(n));
  }
  put(document("3", 2));
  put(in_other_region(document("elsewhere")));
  put(document("dead"));
  put(removal("dead"));
  Version last;
  size_t pages = 0;
  std::set<std::string> seen;
  for (records::Read read{sample_.kind, sample_.region, {}, 10};; ++pages) {
    const auto page = list(read);
    ASSERT_TRUE(page.ok()) << why(page);
    EXPECT_LE(page->records.size(), 10u);
    for (const Record& r : page->records) {
      EXPECT_GT(r.version, last);
      last = r.version;
      EXPECT_TRUE(seen.insert(r.key.id).second) << r.key.id << " twice";
    }
    read.after = page->next;
    if (!page->more) break;
    ASSERT_LT(pages, 50u);
  }
  EXPECT_EQ(seen, wanted);
  EXPECT_EQ(list({sample_.kind, {}, {}, 100})->records.size(), 26u) << "any region";
  EXPECT_EQ(list({{}, sample_.other_region, {}, 100})->records.size(), 1u) << "any kind";
}

TEST_F(RecordsReads, R9_AListNamesTheDeadOnlyWhenAsked) {
  put(document("a"));
  put(document("b"));
  put(removal("a"));
  EXPECT_EQ(list(all_of_region())->records.size(), 1u);
  records::Read read = all_of_region();
  read.deleted = true;
  const auto all = list(read);
  ASSERT_EQ(all->records.size(), 2u);
  EXPECT_EQ(all->records[1].state, "deleted");
}

TEST_F(RecordsReads, R9_AKindThatIsNotKnownIsNoEmptyList) {
  const auto listed = list({"no_such_kind"});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, Code::invalid_argument);
  EXPECT_EQ(listed.error().where, "kind");
}

TEST_F(RecordsReads, R12_ACursorOfAnotherHistoryIsOutOfRange) {
  const Cursor at = put(document("a"));
  for (const Cursor wrong : {Cursor{at.incarnation, at.version + 1000},
                             Cursor{Incarnation(at.incarnation.value() ^ 1), at.version}}) {
    const auto listed = list({sample_.kind, sample_.region, wrong});
    ASSERT_FALSE(listed.ok());
    EXPECT_EQ(listed.error().code, Code::out_of_range);
  }
}

}  // namespace
}  // namespace davit::conformance

// Tombstones and their purge (S7), and what restarts do to cursors (S10).
#include "storage.hpp"

namespace davit::conformance {
namespace {

Cursor at(Store& store, Version version) {
  return {store->head()->head.incarnation, version};
}

TEST(Storage, S7_ATombstoneIsReadUntilItIsPurged) {
  Store store;
  put(*store, record("a"));
  put(*store, record("b"));
  const Version a = put(*store, dead(record("a", "kept payload")));
  const Version c = put(*store, dead(record("c")));
  EXPECT_EQ(ids(read_all(*store).records), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(get(*store, "a")->payload, "kept payload");
  ASSERT_TRUE(store->maintain({true, a}).ok());
  EXPECT_EQ(store->head()->purged_through, a);
  EXPECT_EQ(store->head()->head.version, c);
  EXPECT_EQ(ids(read_all(*store).records), (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(get(*store, "a"));
}

TEST(Storage, S7_ACursorBelowThePurgeMarkIsRefused) {
  Store store;
  const Version a = put(*store, record("a"));
  const Version b = put(*store, dead(record("b")));
  put(*store, record("c"));
  EXPECT_TRUE(read_after(*store, at(store, a)).ok());
  ASSERT_TRUE(store->maintain({true, b}).ok());
  expect_refused(*store, at(store, a));
  EXPECT_TRUE(read_after(*store, at(store, b)).ok());
  EXPECT_TRUE(read_after(*store, {}).ok());
}

TEST(Storage, S7_AMaintenanceWithoutPurgeTakesNothingAway) {
  Store store;
  put(*store, dead(record("a")));
  ASSERT_TRUE(store->maintain({false, Version::max()}).ok());
  EXPECT_TRUE(get(*store, "a"));
  EXPECT_EQ(store->head()->purged_through, Version(0));
}

TEST(Storage, S7_ThePurgeMarkNeverFallsNorPassesTheHead) {
  Store store;
  put(*store, dead(record("a")));
  const Version head = put(*store, record("b"));
  ASSERT_TRUE(store->maintain({true, head + 1000}).ok());
  EXPECT_EQ(store->head()->purged_through, head);
  EXPECT_TRUE(read_after(*store, at(store, head)).ok());
  ASSERT_TRUE(store->maintain({true, 1}).ok());
  EXPECT_EQ(store->head()->purged_through, head);
}

TEST(Storage, S7_APurgeDuringAScanIsNoticedUnlessTheScanLeavesOutTheDead) {
  Store store;
  for (int i = 0; i < 10; ++i) put(*store, record("a" + std::to_string(i)));
  const Version begun = put(*store, dead(record("d")));
  auto first = read_after(*store, {}, begun, 3);
  ASSERT_TRUE(first.ok()) << why(first);
  ASSERT_TRUE(store->maintain({true, begun}).ok());
  const Cursor next{first->head.head.incarnation, first->next_version};
  EXPECT_TRUE(read_after(*store, next, begun).ok())
      << "dead records up to where the scan began do not matter to it";
  expect_refused(*store, next);
  const Version later = put(*store, dead(record("e")));
  ASSERT_TRUE(store->maintain({true, later}).ok());
  expect_refused(*store, next, begun);
}

TEST(Storage, S7_AScanLeavesOutTheDeadOnlyUpToWhereItSays) {
  Store store;
  const Version d = put(*store, dead(record("d")));
  put(*store, record("a"));
  put(*store, dead(record("e")));
  EXPECT_EQ(ids(read_all(*store, {}, {}, 1, d).records), (std::vector<std::string>{"a", "e"}));
}

Status gone(const std::string& id, uint64_t sequence, Version version) {
  Status out = status(id, sequence);
  out.gone = true;
  out.observed_version = version;
  return out;
}

// An agent must hear of a deleted record to confirm that it is gone. Statuses of the time before
// the delete do not confirm it.
TEST(Storage, S7_AScanNamesTheDeadThatNobodyHasSaidToBeGoneWhenAsked) {
  Store store;
  for (const char* id : {"again", "gone", "lingers", "unheard"}) put(*store, record(id));
  const Version first = put(*store, dead(record("again")));
  ASSERT_TRUE(store->report_now({gone("again", 1, first), status("lingers", 1)}).ok());
  put(*store, record("again"));
  Version last;
  for (const char* id : {"again", "lingers", "unheard", "gone"})
    last = put(*store, dead(record(id)));
  ASSERT_TRUE(store->report_now({gone("gone", 1, last)}).ok());
  put(*store, record("live"));
  const auto scan = [&](const Scope& scope) {
    std::vector<std::string> out;
    Cursor next;
    for (bool more = true; more;) {
      auto page = store->read({scope, next, last, 1, UINT64_MAX, true}, [&](const davit_record& r) {
        out.push_back(from_abi(r).key.id);
        return true;
      });
      if (!page.ok()) return std::vector<std::string>{why(page)};
      next = {page->head.head.incarnation, page->next_version};
      more = page->more;
    }
    return out;
  };
  const std::vector<std::string> all{"again", "lingers", "unheard", "live"};
  for (const auto& kind : {"", "widget"}) {
    for (const auto& region : {"", "r1"}) EXPECT_EQ(scan({kind, region}), all);
  }
  EXPECT_EQ(ids(read_all(*store, {}, {}, 1, last).records), std::vector<std::string>{"live"});
  ASSERT_TRUE(
      store
          ->report_now({gone("again", 2, last), gone("lingers", 2, last), gone("unheard", 2, last)})
          .ok());
  EXPECT_EQ(scan({}), std::vector<std::string>{"live"});
}

TEST(Storage, S7_ManyTombstonesArePurgedAtOnce) {
  Store store;
  const uint32_t size = group_size(*store, 500);
  Version last;
  for (int g = 0; g < 12; ++g) {
    Group group;
    for (uint32_t i = 0; i < size; ++i) {
      Record r = record(std::to_string(g) + "-" + std::to_string(i));
      group.mutations.push_back({i % 10 == 0 ? r : dead(r)});
    }
    const auto result = commit(*store, group);
    ASSERT_FALSE(result.error);
    last = result.first_version + size - 1;
  }
  ASSERT_TRUE(store->maintain({true, last}).ok());
  EXPECT_EQ(store->head()->purged_through, last);
  EXPECT_EQ(read_all(*store, {}, {}, 1000).records.size(), 12u * ((size + 9) / 10));
}

TEST(Storage, S7_APurgedIdBeginsANewLife) {
  Store store;
  const Version v = put(*store, dead(record("a")));
  ASSERT_TRUE(store->maintain({true, v}).ok());
  Record again = record("a");
  again.name = "another";
  EXPECT_GT(put(*store, again, 0), v);
}

TEST(Storage, S7_StatusesGoWithTheRecordTheySpeakOf) {
  Store store;
  put(*store, record("a"));
  put(*store, record("b"));
  Status s = status("a", 1);
  s.children = {{"pod", "10.0.0.1", "running", 100, 64}};
  ASSERT_TRUE(store->report_now({s, status("b", 1)}).ok());
  const Version v = put(*store, dead(record("a")));
  EXPECT_EQ(read_statuses(*store).size(), 2u);
  ASSERT_TRUE(store->maintain({true, v}).ok());
  const auto left = read_statuses(*store);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].key.id, "b");
  put(*store, record("a"));
  ASSERT_TRUE(store->report_now({status("a", 1)}).ok());
  const auto again = read_statuses(*store, at(store, left[0].status_version));
  ASSERT_EQ(again.size(), 1u) << "the new life's first status was taken for an old one";
  EXPECT_TRUE(again[0].children.empty());
}

TEST(Storage, S10_ACursorOfAnotherHistoryOrAboveTheHeadIsRefused) {
  Store store;
  const Version head = put(*store, record("a"));
  const Incarnation incarnation = store->head()->head.incarnation;
  expect_refused(*store, {another(incarnation), head});
  expect_refused(*store, {0, head});
  expect_refused(*store, {incarnation, head + 1});
  EXPECT_TRUE(read_after(*store, {incarnation, head}).ok());
  EXPECT_TRUE(read_after(*store, {another(incarnation), 0}).ok());
}

TEST(Storage, S10_TheHistoryEndsWithTheHead) {
  Store store;
  EXPECT_EQ(history(*store).back(), store->head()->head);
  put(*store, record("a"));
  EXPECT_EQ(history(*store).back(), store->head()->head);
}

TEST(Storage, S10_ACommitSaysTheIncarnationThatTheHeadIsIn) {
  Store store;
  const Group group{{{record("a"), 0}}, "request"};
  const auto made = commit(*store, group);
  ASSERT_FALSE(made.error);
  const Cursor head = store->head()->head;
  EXPECT_NE(made.incarnation, Incarnation(0));
  EXPECT_EQ((Cursor{made.incarnation, made.first_version}), head);
  EXPECT_EQ(commit(*store, group).incarnation, head.incarnation) << "of a repeated request";
  const auto refused = commit(*store, {{{record("a"), 0}}, {}});
  ASSERT_TRUE(refused.error);
  EXPECT_EQ((Cursor{refused.incarnation, refused.actual_version}), head);
}

// A start may begin an incarnation, or go on with the one before.
TEST(Storage, S10_CursorsStayGoodOverRestarts) {
  if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  Store store;
  put(*store, record("a"));
  const Cursor first = store->head()->head;
  store.restart();
  EXPECT_EQ(store->head()->head.version, first.version);
  const auto made = commit(*store, {{{record("b")}}, {}});
  const Version b = made.first_version;
  EXPECT_GT(b, first.version);
  EXPECT_EQ((Cursor{made.incarnation, b}), store->head()->head);
  EXPECT_EQ(ids(read_all(*store, first).records), std::vector<std::string>{"b"});
  if (made.incarnation != first.incarnation) {
    expect_refused(*store, {first.incarnation, b});
    EXPECT_FALSE(knows(history(*store), {first.incarnation, b})) << "it ended before b";
  }
  const Cursor second = store->head()->head;
  store.restart();
  store.restart();
  put(*store, record("c"));
  EXPECT_EQ(ids(read_all(*store, first).records), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(ids(read_all(*store, second).records), std::vector<std::string>{"c"});
  EXPECT_TRUE(knows(history(*store), first));
  EXPECT_TRUE(knows(history(*store), second));
  EXPECT_EQ(history(*store).back(), store->head()->head);
}

TEST(Storage, EverythingIsThereAfterARestart) {
  if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  Store store;
  const Group group{{{record("a", "one")}, {record("b")}}, "request"};
  const auto first = commit(*store, group);
  const Version gone = put(*store, dead(record("b")));
  Status s = status("a", 7);
  s.children = {{"pod", "10.0.0.1", "running", 100, 64}};
  ASSERT_TRUE(store->report_now({s}).ok());
  ASSERT_TRUE(store->progress({"r1", "agent", "davit 1", 3, {{"widget", {5, 6}}}, {}, 99}).ok());
  ASSERT_TRUE(store->maintain({true, gone - 1}).ok());
  const auto before = *store->head();
  store.restart();
  auto after = store->head();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->head.version, before.head.version);
  EXPECT_EQ(after->status_head, before.status_head);
  EXPECT_EQ(after->purged_through, before.purged_through);
  EXPECT_EQ(get(*store, "a")->payload, "one");
  EXPECT_EQ(get(*store, "b")->version, gone);
  ASSERT_EQ(read_statuses(*store).size(), 1u);
  EXPECT_EQ(read_statuses(*store)[0].children, s.children);
  int agents = 0;
  ASSERT_TRUE(store->agents({}, [&](const davit_progress&) { return ++agents, true; }).ok());
  EXPECT_EQ(agents, 1);
  EXPECT_EQ(commit(*store, group).first_version, first.first_version);
  EXPECT_EQ(store->head()->head.version, before.head.version);
}

}  // namespace
}  // namespace davit::conformance

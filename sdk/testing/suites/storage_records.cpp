// Records: versions, groups, expectations, repeated requests (S1, S3, S4, S5, S6).
#include <atomic>
#include <thread>

#include "storage.hpp"

namespace davit::conformance {
namespace {

TEST(Storage, BeginsEmptyWithAnIncarnation) {
  Store store;
  auto head = store->head();
  ASSERT_TRUE(head.ok()) << why(head);
  EXPECT_EQ(head->head.version, Version(0));
  EXPECT_NE(head->head.incarnation, Incarnation(0));
  EXPECT_EQ(head->purged_through, Version(0));
  EXPECT_TRUE(read_all(*store).records.empty());
}

TEST(Storage, S1_VersionsAscendInAPageAndAcrossPages) {
  Store store;
  for (int i = 0; i < 25; ++i) put(*store, record("a" + std::to_string(i)));
  const auto read = read_all(*store, {}, {}, 4);
  ASSERT_EQ(read.records.size(), 25u);
  for (size_t i = 1; i < read.records.size(); ++i) {
    EXPECT_LT(read.records[i - 1].version, read.records[i].version);
  }
  for (const auto& page : read.pages) EXPECT_LE(page.next_version, page.head.head.version);
  EXPECT_EQ(read.end, store->head()->head);
}

TEST(Storage, S1_AReplacedRecordIsReadOnceUnderItsNewVersion) {
  Store store;
  put(*store, record("a", "one"));
  const Version b = put(*store, record("b"));
  const Version again = put(*store, record("a", "two"));
  EXPECT_GT(again, b);
  const auto read = read_all(*store);
  EXPECT_EQ(ids(read.records), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(read.records.back().payload, "two");
}

TEST(Storage, KeepsEveryFieldOfARecordAsItWas) {
  Store store;
  Record r = record("a");
  r.payload = std::string("\0\x01\xff\n", 4) + std::string(100'000, 'x');
  r.json = "{\"text\": \"\\u00e9 \xc3\xa9 '\\\"\"}";
  r.state = "standby";
  r.author = "o'brien \xe2\x9c\x93";
  r.request_id = "request";
  r.annotations = {
      {"davit.dev/paused", "by \"me\"\n\t\\ '"}, {"empty", ""}, {"\xc3\xa9", "\xf0\x9f\x9a\xa2"}};
  const Version version = put(*store, r);
  const auto found = get(*store, "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, r.key);
  EXPECT_EQ(found->ns, r.ns);
  EXPECT_EQ(found->name, r.name);
  EXPECT_EQ(found->state, r.state);
  EXPECT_EQ(found->version, version);
  EXPECT_TRUE(found->live);
  EXPECT_EQ(found->payload, r.payload);
  EXPECT_TRUE(found->json == r.json || found->json.empty()) << found->json;
  EXPECT_EQ(found->author, r.author);
  EXPECT_EQ(found->request_id, r.request_id);
  EXPECT_EQ(found->annotations, r.annotations);
  EXPECT_GT(found->committed_at_unix_ms, 1'600'000'000'000);
  const auto read = read_all(*store);
  ASSERT_EQ(read.records.size(), 1u);
  EXPECT_EQ(read.records[0].payload, r.payload);
  EXPECT_EQ(read.records[0].annotations, r.annotations);
}

TEST(Storage, KeepsAnEmptyPayload) {
  Store store;
  put(*store, record("a", ""));
  ASSERT_TRUE(get(*store, "a"));
  EXPECT_EQ(get(*store, "a")->payload, "");
}

TEST(Storage, S3_WhatWasCommittedIsReadAtOnce) {
  Store store;
  for (int i = 0; i < 20; ++i) {
    const std::string id = "a" + std::to_string(i);
    const Version version = put(*store, record(id));
    EXPECT_GE(store->head()->head.version, version);
    ASSERT_TRUE(get(*store, id));
    EXPECT_EQ(get(*store, id)->version, version);
    EXPECT_EQ(read_all(*store).records.back().version, version);
  }
}

TEST(Storage, FindsByNameInOneNamespaceOrInAny) {
  Store store;
  Record a = record("a"), b = record("b"), c = record("c");
  a.ns = "one", b.ns = "two", c.ns = "one";
  a.name = b.name = "same", c.key.region = "r2", c.name = "same";
  for (const auto& r : {a, b, c}) put(*store, r);
  const auto find = [&](const std::string& ns, const std::string& name) {
    std::vector<std::string> found;
    auto r = store->get({{"widget", "r1", ""}, ns, name}, [&](const davit_record& x) {
      found.push_back(text(x.key.id));
      return true;
    });
    EXPECT_TRUE(r.ok()) << why(r);
    EXPECT_EQ(r->head, store->head()->head);
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(find("one", "same"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(find("", "same"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(find("one", "absent"), std::vector<std::string>());
}

TEST(Storage, AnswersForARecordThatIsNotThere) {
  Store store;
  const Version version = put(*store, record("a"));
  auto r = store->get({{"widget", "r1", "absent"}, {}, {}}, [](const davit_record&) {
    ADD_FAILURE() << "something was found";
    return true;
  });
  ASSERT_TRUE(r.ok()) << why(r);
  EXPECT_EQ(r->head.version, version);
}

TEST(Storage, S4_AGroupGivesItsMutationsConsecutiveVersionsInTheirOrder) {
  Store store;
  put(*store, record("x"));
  const auto result = commit(*store, {{{record("c")}, {record("a")}, {record("x")}}, {}});
  ASSERT_FALSE(result.error);
  EXPECT_EQ(get(*store, "c")->version, result.first_version);
  EXPECT_EQ(get(*store, "a")->version, result.first_version + 1);
  EXPECT_EQ(get(*store, "x")->version, result.first_version + 2);
}

TEST(Storage, S4_AGroupThatFailsLeavesNothingAndItsNeighboursAlone) {
  Store store;
  const Version v = put(*store, record("old", "before"));
  const Group good1{{{record("g1")}}, {}}, good2{{{record("g2")}, {record("g3")}}, {}};
  const Group bad{{{record("old", "after")}, {record("b1")}, {record("absent"), 77}}, {}};
  auto results = store->commit_now({good1, bad, good2});
  ASSERT_TRUE(results.ok()) << why(results);
  ASSERT_EQ(results->size(), 3u);
  EXPECT_FALSE((*results)[0].error);
  ASSERT_TRUE((*results)[1].error);
  EXPECT_EQ((*results)[1].error->code, Code::aborted);
  EXPECT_FALSE((*results)[2].error);
  EXPECT_EQ(get(*store, "old")->payload, "before");
  EXPECT_EQ(get(*store, "old")->version, v);
  EXPECT_FALSE(get(*store, "b1"));
  const auto read = read_all(*store);
  EXPECT_EQ(ids(read.records), (std::vector<std::string>{"old", "g1", "g2", "g3"}));
  EXPECT_EQ(read.records[1].version, (*results)[0].first_version);
  EXPECT_EQ(read.records[2].version, (*results)[2].first_version);
}

TEST(Storage, S5_AnUnmetExpectationChangesNothingAndSaysWhatIsThere) {
  Store store;
  const Version v = put(*store, record("a"));
  const Version dead_version = put(*store, dead(record("d")));
  struct Row {
    const char* id;
    Version expect, actual;
  };
  for (const Row& row :
       {Row{"a", 0, v}, Row{"a", v + 1000, v}, Row{"absent", 5, 0}, Row{"d", 0, dead_version}}) {
    const Version head = store->head()->head.version;
    const auto result = commit(*store, {{{record(row.id, "new"), row.expect}}, {}});
    ASSERT_TRUE(result.error) << row.id << " " << row.expect;
    EXPECT_EQ(result.error->code, Code::aborted);
    EXPECT_EQ(result.actual_version, row.actual);
    EXPECT_EQ(store->head()->head.version, head);
  }
}

TEST(Storage, S5_AMetExpectationCommits) {
  Store store;
  const Version first = put(*store, record("a", "one"), 0);
  const Version second = put(*store, record("a", "two"), first);
  EXPECT_GT(second, first);
  EXPECT_EQ(get(*store, "a")->payload, "two");
}

TEST(Storage, S5_OfTwoWhoExpectTheSameVersionOneWins) {
  Store store;
  Version version = put(*store, record("a"));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> won{0};
    const auto race = [&](const char* who) {
      auto r = store->commit_now({{{{record("a", who), version}}, {}}});
      if (r.ok() && !r->front().error) ++won;
    };
    std::thread other;
    if (store.max_concurrency() > 1) {
      other = std::thread(race, "two");
      race("one");
      other.join();
    } else {
      race("one");
      race("two");
    }
    EXPECT_EQ(won, 1);
    version = get(*store, "a")->version;
  }
}

TEST(Storage, S6_ARepeatedRequestChangesNothingAndAnswersAsTheFirstTime) {
  Store store;
  const Group group{{{record("a", "one")}, {record("b"), 0}}, "request-1"};
  const auto first = commit(*store, group);
  ASSERT_FALSE(first.error);
  put(*store, record("a", "later"));
  const Version head = store->head()->head.version;
  const auto again = commit(*store, group);
  ASSERT_FALSE(again.error) << again.error->message;
  EXPECT_EQ(again.first_version, first.first_version);
  EXPECT_EQ(store->head()->head.version, head);
  EXPECT_EQ(get(*store, "a")->payload, "later");
  EXPECT_FALSE(commit(*store, {{{record("a", "other request")}}, "request-2"}).error);
  EXPECT_EQ(get(*store, "a")->payload, "other request");
}

TEST(Storage, RefusesAGroupThatNamesAKeyTwiceOrNothing) {
  Store store;
  for (const Group& group : {Group{{{record("a")}, {record("a")}}, {}}, Group{{}, {}}}) {
    const auto result = commit(*store, group);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, Code::invalid_argument);
  }
  EXPECT_EQ(store->head()->head.version, Version(0));
}

// Agents' lag, cursors and the purge all rely on this.
TEST(Storage, S1_TheLastVersionOfACommitIsTheHead) {
  Store store;
  for (int i = 0; i < 3; ++i) {
    const Version before = store->head()->head.version;
    const std::string n = std::to_string(i);
    const auto result = commit(*store, Group{{{record("a" + n)}, {record("b" + n)}}, {}});
    ASSERT_FALSE(result.error) << result.error->message;
    EXPECT_GT(result.first_version, before);
    EXPECT_EQ(store->head()->head.version, result.first_version + 1);
  }
}

}  // namespace
}  // namespace davit::conformance

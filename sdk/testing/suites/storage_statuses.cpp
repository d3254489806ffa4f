// Statuses and their children (S8).
#include "storage.hpp"

namespace davit::conformance {
namespace {

std::vector<Child> sorted(std::vector<Child> children) {
  std::sort(children.begin(), children.end(),
            [](const Child& a, const Child& b) { return a.name < b.name; });
  return children;
}

std::optional<Status> stored(Store& store, const std::string& id) {
  for (auto& s : read_statuses(*store)) {
    if (s.key.id == id) return s;
  }
  return std::nullopt;
}

TEST(StorageStatuses, KeepsEveryFieldAsItWas) {
  Store store;
  while (put(*store, record("a")) < 17) ASSERT_FALSE(HasFailure());
  Status s = status("a", 4, 2);
  s.observed_version = 17;
  s.health = "unhealthy";
  s.desired = 5, s.updated = 4, s.ready = 3, s.stale = 1;
  s.message = "quota \"x\" \xc3\xa9";
  s.parked = "invalid";
  s.detail = "{\"condition\": \"Failed\"}";
  s.children = {{"pod-2", "10.0.0.2", "pending", 250, 512},
                {"pod-1", "10.0.0.1", "running", 100, 64}};
  ASSERT_TRUE(store->report_now({s}).ok());
  const auto found = stored(store, "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, s.key);
  EXPECT_FALSE(found->gone);
  EXPECT_EQ(found->observed_version, Version(17));
  EXPECT_EQ(found->health, s.health);
  EXPECT_EQ(found->desired, 5);
  EXPECT_EQ(found->updated, 4);
  EXPECT_EQ(found->ready, 3);
  EXPECT_EQ(found->stale, 1);
  EXPECT_EQ(found->message, s.message);
  EXPECT_EQ(found->parked, s.parked);
  EXPECT_EQ(found->detail, s.detail);
  EXPECT_EQ(found->epoch, Epoch(2));
  EXPECT_EQ(found->sequence, 4u);
  EXPECT_EQ(found->reported_at_unix_ms, s.reported_at_unix_ms);
  EXPECT_EQ(sorted(found->children), sorted(s.children));
  EXPECT_EQ(found->status_version, store->head()->status_head);
}

TEST(StorageStatuses, S8_ChildrenThatAreNotReportedAgainAreRemoved) {
  Store store;
  put(*store, record("a"));
  put(*store, record("b"));
  Status a = status("a", 1), b = status("b", 1);
  a.children = {{"x", "1", "running", 1, 1}, {"y", "2", "running", 1, 1}};
  b.children = {{"x", "3", "running", 1, 1}};
  ASSERT_TRUE(store->report_now({a, b}).ok());
  a.sequence = 2;
  a.children = {{"y", "2", "failed", 1, 1}, {"z", "4", "pending", 2, 3}};
  ASSERT_TRUE(store->report_now({a}).ok());
  EXPECT_EQ(sorted(stored(store, "a")->children), sorted(a.children));
  EXPECT_EQ(stored(store, "b")->children, b.children);
  a.sequence = 3;
  a.gone = true;
  ASSERT_TRUE(store->report_now({a}).ok());
  EXPECT_TRUE(stored(store, "a")->gone);
  EXPECT_TRUE(stored(store, "a")->children.empty());
}

TEST(StorageStatuses, S8_AReportThatIsRepeatedChangesNothing) {
  Store store;
  put(*store, record("a"));
  Status s = status("a", 1);
  s.children = {{"x", "1", "running", 1, 1}};
  ASSERT_TRUE(store->report_now({s}).ok());
  const Version head = store->head()->status_head;
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_EQ(store->head()->status_head, head);
  EXPECT_EQ(stored(store, "a")->children, s.children);
}

TEST(StorageStatuses, AnOlderEpochOrSequenceIsIgnored) {
  Store store;
  put(*store, record("a"));
  const auto report = [&](Epoch epoch, uint64_t sequence) {
    Status s = status("a", sequence, epoch);
    s.children = {{"of-" + to_string(epoch) + "-" + std::to_string(sequence), "", "running", 0, 0}};
    ASSERT_TRUE(store->report_now({s}).ok());
  };
  report(5, 10);
  report(5, 9);
  report(4, 11);
  const auto kept = stored(store, "a");
  EXPECT_EQ(kept->epoch, Epoch(5));
  EXPECT_EQ(kept->sequence, 10u);
  ASSERT_EQ(kept->children.size(), 1u);
  EXPECT_EQ(kept->children[0].name, "of-5-10");
  report(6, 1);
  EXPECT_EQ(stored(store, "a")->epoch, Epoch(6));
  report(6, 2);
  EXPECT_EQ(stored(store, "a")->sequence, 2u);
}

TEST(StorageStatuses, HaveTheNamespaceAndNameOfTheirRecord) {
  Store store;
  put(*store, record("a"));
  Status s = status("a", 1);
  s.ns = "of-the", s.name = "agent";
  ASSERT_TRUE(store->report_now({s}).ok());
  ASSERT_TRUE(stored(store, "a"));
  EXPECT_EQ(stored(store, "a")->ns, record("a").ns);
  EXPECT_EQ(stored(store, "a")->name, record("a").name);
}

TEST(StorageStatuses, AStatusOfAnUnknownRecordIsIgnored) {
  Store store;
  put(*store, record("a"));
  ASSERT_TRUE(store->report_now({status("absent", 1), status("a", 1)}).ok());
  const auto all = read_statuses(*store);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].key.id, "a");
}

// After a restore: the agent reports a version that the store has lost.
TEST(StorageStatuses, AStatusOfALostHistoryIsIgnoredUnlessItSaysGone) {
  Store store;
  const Version version = put(*store, record("a"));
  Status s = status("a", 1);
  s.observed_version = version + 1;
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_FALSE(stored(store, "a"));
  s.observed_version = version;
  ASSERT_TRUE(store->report_now({s}).ok());
  ASSERT_TRUE(stored(store, "a"));
  s.sequence = 2;
  s.observed_version = version + 1;
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_EQ(stored(store, "a")->observed_version, version);
  s.gone = true;
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_TRUE(stored(store, "a")->gone);
}

// After a restore: the store has given the version again that the agent reports.
TEST(StorageStatuses, S10_AStatusReadInAnotherHistoryIsIgnoredUnlessItSaysGone) {
  Store store;
  Status s = status("a", 1);
  s.observed_version = put(*store, record("a"));
  const Incarnation incarnation = store->head()->head.incarnation;
  s.observed_incarnation = another(incarnation);
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_FALSE(stored(store, "a"));
  s.observed_incarnation = incarnation;
  ASSERT_TRUE(store->report_now({s}).ok());
  ASSERT_TRUE(stored(store, "a"));
  s.observed_incarnation = another(incarnation);
  s.sequence = 2;
  s.gone = true;
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_TRUE(stored(store, "a")->gone);
}

TEST(StorageStatuses, S10_AStatusReadInAnEarlierIncarnationIsTakenUpToItsEnd) {
  if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  Store store;
  Status a = status("a", 1), b = status("b", 1);
  a.observed_version = put(*store, record("a"));
  a.observed_incarnation = b.observed_incarnation = store->head()->head.incarnation;
  store.restart();
  b.observed_version = put(*store, record("b"));
  ASSERT_TRUE(store->report_now({a, b}).ok());
  EXPECT_TRUE(stored(store, "a"));
  const bool goes_on = store->head()->head.incarnation == b.observed_incarnation;
  EXPECT_EQ(stored(store, "b").has_value(), goes_on) << "it may have ended before b";
}

TEST(StorageStatuses, ADeadRecordStillHasAStatus) {
  Store store;
  put(*store, dead(record("a")));
  ASSERT_TRUE(store->report_now({status("a", 1)}).ok());
  EXPECT_TRUE(stored(store, "a"));
}

TEST(StorageStatuses, DoNotMoveTheVersionsOfRecords) {
  Store store;
  const Version v = put(*store, record("a"));
  ASSERT_TRUE(store->report_now({status("a", 1)}).ok());
  EXPECT_EQ(store->head()->head.version, v);
  EXPECT_EQ(get(*store, "a")->version, v);
}

}  // namespace
}  // namespace davit::conformance

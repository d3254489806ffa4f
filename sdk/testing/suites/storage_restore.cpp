// What a restored backup does to cursors, statuses and requests (S6, S10). The commands of the
// configuration make the copy and bring it back: while the store is stopped, and where several
// instances may share it, also while they are up, as a database is restored or fails over under
// running servers.
#include "storage.hpp"

namespace davit::conformance {
namespace {

enum class When { stopped, up };

class StorageRestore : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
    if (!Backups::can_be_made())
      GTEST_SKIP() << "conformance.backup and conformance.restore are not configured";
    store_.emplace();
  }
  Store& store() { return *store_; }
  void restore(const std::string& copy, When when) {
    if (when == When::stopped) store().stop();
    backups_.restore(store(), copy);
    if (when == When::stopped) store().start();
  }
  void report(const std::string& id, uint64_t sequence) {
    const auto r = store()->report_now({status(id, sequence)});
    EXPECT_TRUE(r.ok()) << why(r);
  }

  void lost_cursors_are_refused(When when);
  void versions_are_given_again_in_another_incarnation(When when);
  void lost_statuses_are_ignored(When when);
  void lost_versions_are_expected_in_vain(When when);
  void lost_requests_are_carried_out(When when);

  Backups backups_;

 private:
  std::optional<Store> store_;
};

// Several tests need a restore while instances are up.
constexpr const char* only_stopped =
    "this store is for one instance (conformance.exclusive), so it is restored when it is stopped";

void StorageRestore::lost_cursors_are_refused(When when) {
  put(*store(), record("a"));
  report("a", 1);
  const Cursor kept = store()->head()->head, kept_status = status_head(*store());
  const std::string copy = backups_.make(store());
  for (const char* id : {"b", "c", "d"}) put(*store(), record(id));
  report("a", 2);
  const Cursor lost = store()->head()->head, lost_status = status_head(*store());
  restore(copy, when);

  expect_refused(*store(), lost);
  expect_refused_status(*store(), lost_status);
  EXPECT_FALSE(get(*store(), "b"));
  const Cursor head = store()->head()->head;
  EXPECT_EQ(head.version, kept.version);
  EXPECT_NE(head.incarnation, lost.incarnation);
  EXPECT_TRUE(read_after(*store(), kept).ok());
  EXPECT_TRUE(read_statuses_after(*store(), kept_status).ok());
  EXPECT_TRUE(knows(history(*store()), kept));
  EXPECT_FALSE(knows(history(*store()), lost));
}

TEST_F(StorageRestore, S10_LostCursorsAreRefused) {
  lost_cursors_are_refused(When::stopped);
}
TEST_F(StorageRestore, S10_LostCursorsAreRefusedAfterARestoreWhileItRuns) {
  if (is_exclusive()) GTEST_SKIP() << only_stopped;
  lost_cursors_are_refused(When::up);
}

void StorageRestore::versions_are_given_again_in_another_incarnation(When when) {
  put(*store(), record("a"));
  report("a", 1);
  const Cursor kept = store()->head()->head, kept_status = status_head(*store());
  const std::string copy = backups_.make(store());
  for (const char* id : {"b", "c", "d"}) put(*store(), record(id));
  report("a", 2);
  const Cursor lost = store()->head()->head, lost_status = status_head(*store());
  restore(copy, when);

  // The commit comes first: nothing else has told this instance that the store was restored.
  for (int i = 0; i < 5; ++i) {
    const auto made = commit(*store(), {{{record("e" + std::to_string(i))}}, {}});
    ASSERT_FALSE(made.error) << made.error->message;
    EXPECT_NE(made.incarnation, lost.incarnation);
    EXPECT_EQ((Cursor{made.incarnation, made.first_version}), store()->head()->head);
  }
  for (uint64_t sequence : {3, 4, 5}) report("a", sequence);
  ASSERT_GT(store()->head()->head.version, lost.version);
  ASSERT_GT(status_head(*store()).version, lost_status.version);
  expect_refused(*store(), lost);
  expect_refused_status(*store(), lost_status);
  EXPECT_FALSE(knows(history(*store()), lost));
  EXPECT_TRUE(knows(history(*store()), kept));
  EXPECT_EQ(read_all(*store(), kept).records.size(), 5u);
  EXPECT_EQ(read_statuses(*store(), kept_status).size(), 1u);
  EXPECT_EQ(history(*store()).back(), store()->head()->head);
}

TEST_F(StorageRestore, S10_VersionsAreGivenAgainInAnotherIncarnation) {
  versions_are_given_again_in_another_incarnation(When::stopped);
}
TEST_F(StorageRestore, S10_VersionsAreGivenAgainInAnotherIncarnationAfterARestoreWhileItRuns) {
  if (is_exclusive()) GTEST_SKIP() << only_stopped;
  versions_are_given_again_in_another_incarnation(When::up);
}

void StorageRestore::lost_versions_are_expected_in_vain(When when) {
  put(*store(), record("a"));
  const auto kept = commit(*store(), {{{record("b")}}, {}});
  const std::string copy = backups_.make(store());
  const auto lost = commit(*store(), {{{record("a", "lost")}}, {}});
  restore(copy, when);
  Version again;
  while (again < lost.first_version) again = put(*store(), record("a", "again"));
  ASSERT_EQ(again, lost.first_version);
  const auto refused = commit(*store(), {{{record("a", "mine"), again, lost.incarnation}}, {}});
  ASSERT_TRUE(refused.error) << "it is another version with this number";
  EXPECT_EQ(refused.error->code, Code::aborted) << refused.error->message;
  EXPECT_EQ(refused.actual_version, again);
  EXPECT_EQ(get(*store(), "a")->payload, "again");
  const Incarnation now = store()->head()->head.incarnation;
  EXPECT_FALSE(commit(*store(), {{{record("a", "mine"), again, now}}, {}}).error);
  EXPECT_FALSE(
      commit(*store(), {{{record("b", "mine"), kept.first_version, kept.incarnation}}, {}}).error)
      << "what was not lost is expected as before";
}

TEST_F(StorageRestore, S5_AVersionThatWasLostIsExpectedInVain) {
  lost_versions_are_expected_in_vain(When::stopped);
}
TEST_F(StorageRestore, S5_AVersionThatWasLostIsExpectedInVainAfterARestoreWhileItRuns) {
  if (is_exclusive()) GTEST_SKIP() << only_stopped;
  lost_versions_are_expected_in_vain(When::up);
}

// The agent has seen a version of "a" that the store has lost and given again.
void StorageRestore::lost_statuses_are_ignored(When when) {
  put(*store(), record("a"));
  const std::string copy = backups_.make(store());
  Status lost = status("a", 1);
  const auto made = commit(*store(), {{{record("a", "lost")}}, {}});
  lost.observed_version = made.first_version;
  lost.observed_incarnation = made.incarnation;
  restore(copy, when);
  while (put(*store(), record("a", "again")) < lost.observed_version) {
  }
  ASSERT_TRUE(store()->report_now({lost}).ok());
  EXPECT_TRUE(read_statuses(*store()).empty());
  lost.gone = true;
  lost.sequence = 2;
  ASSERT_TRUE(store()->report_now({lost}).ok());
  EXPECT_EQ(read_statuses(*store()).size(), 1u);
  Status now = status("a", 3);
  now.observed_version = store()->head()->head.version;
  now.observed_incarnation = store()->head()->head.incarnation;
  ASSERT_TRUE(store()->report_now({now}).ok());
  const auto stored = read_statuses(*store());
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].sequence, 3u);
}

TEST_F(StorageRestore, S10_StatusesOfTheLostHistoryAreIgnoredUnlessTheySayGone) {
  lost_statuses_are_ignored(When::stopped);
}
TEST_F(StorageRestore, S10_StatusesOfTheLostHistoryAreIgnoredAfterARestoreWhileItRuns) {
  if (is_exclusive()) GTEST_SKIP() << only_stopped;
  lost_statuses_are_ignored(When::up);
}

void StorageRestore::lost_requests_are_carried_out(When when) {
  const Group kept{{{record("a")}}, "kept"}, lost{{{record("b")}}, "lost"};
  const auto first = commit(*store(), kept);
  const std::string copy = backups_.make(store());
  commit(*store(), lost);
  restore(copy, when);
  put(*store(), record("c"));
  const auto again = commit(*store(), lost);
  ASSERT_FALSE(again.error) << again.error->message;
  ASSERT_TRUE(get(*store(), "b")) << "answered as committed, and the record is not there";
  EXPECT_EQ((Cursor{again.incarnation, again.first_version}), store()->head()->head);
  EXPECT_EQ(commit(*store(), kept).first_version, first.first_version);
}

TEST_F(StorageRestore, S6_ARequestThatWasLostIsCarriedOutAgain) {
  lost_requests_are_carried_out(When::stopped);
}
TEST_F(StorageRestore, S6_ARequestThatWasLostIsCarriedOutAgainAfterARestoreWhileItRuns) {
  if (is_exclusive()) GTEST_SKIP() << only_stopped;
  lost_requests_are_carried_out(When::up);
}

TEST_F(StorageRestore, S10_TwoRestoresOfOneCopyBeginDifferentIncarnations) {
  put(*store(), record("a"));
  const std::string copy = backups_.make(store());
  std::vector<Cursor> lost;
  for (const char* id : {"b", "c"}) {
    put(*store(), record(id));
    lost.push_back(store()->head()->head);
    restore(copy, When::stopped);
  }
  for (const char* id : {"d", "e", "f"}) put(*store(), record(id));
  EXPECT_NE(lost[0].incarnation, lost[1].incarnation);
  for (const Cursor cursor : lost) {
    expect_refused(*store(), cursor);
    EXPECT_FALSE(knows(history(*store()), cursor));
  }
}

// A chain that is trimmed has forgotten its oldest incarnations, and with them what was theirs.
TEST_F(StorageRestore, S10_WhatTheChainDoesNotHaveAnyMoreIsRefused) {
  constexpr int rounds = 12;
  put(*store(), record("a"));
  std::vector<Status> observed;
  std::vector<Cursor> statuses;
  for (uint64_t round = 1; round <= rounds; ++round) {
    const auto made = commit(*store(), {{{record("a", std::to_string(round))}}, {}});
    observed.push_back(status("a", 100 + round));
    observed.back().observed_version = made.first_version;
    observed.back().observed_incarnation = made.incarnation;
    report("a", round);
    statuses.push_back(status_head(*store()));
    restore(backups_.make(store()), When::stopped);
  }
  put(*store(), record("a", "last"));
  const History told = history(*store());
  size_t forgotten = 0;
  for (size_t i = 0; i < observed.size(); ++i) {
    const Cursor at{observed[i].observed_incarnation, observed[i].observed_version};
    const bool known = knows(told, at);
    const Version before = status_head(*store()).version;
    ASSERT_TRUE(store()->report_now({observed[i]}).ok());
    EXPECT_EQ(status_head(*store()).version > before, known) << "round " << i;
    EXPECT_EQ(read_after(*store(), at).ok(), known) << "round " << i;
    EXPECT_EQ(read_statuses_after(*store(), statuses[i]).ok(), known) << "round " << i;
    if (known) continue;
    ++forgotten;
    EXPECT_EQ(forgotten, i + 1) << "it is not the oldest that was forgotten";
    expect_refused(*store(), at);
    expect_refused_status(*store(), statuses[i]);
  }
  std::cout << "[          ] of " << rounds << " incarnations the chain has forgotten " << forgotten
            << "\n";
}

TEST_F(StorageRestore, S10_EveryInstanceKnowsOfARestoreWhileItRuns) {
  if (is_exclusive()) GTEST_SKIP() << only_stopped;
  Store second = Store::beside(store());
  put(*store(), record("a"));
  const Cursor kept = second->head()->head;
  const std::string copy = backups_.make(store());
  put(*second, record("b"));
  put(*store(), record("c"));
  const Cursor lost = second->head()->head;
  EXPECT_EQ(store()->head()->head, lost);
  restore(copy, When::up);

  const auto made = commit(*second, {{{record("d")}}, {}});
  ASSERT_FALSE(made.error) << made.error->message;
  EXPECT_NE(made.incarnation, lost.incarnation);
  for (Store* each : {&store(), &second}) {
    EXPECT_EQ((*each)->head()->head, (Cursor{made.incarnation, made.first_version}));
    expect_refused(**each, lost);
    EXPECT_EQ(ids(read_all(**each, kept).records), std::vector<std::string>{"d"});
  }
  EXPECT_EQ(history(*store()), history(*second));
  const auto again = commit(*store(), {{{record("e")}}, {}});
  EXPECT_EQ(again.incarnation, made.incarnation);
  EXPECT_EQ(again.first_version, made.first_version + 1);
}

}  // namespace
}  // namespace davit::conformance

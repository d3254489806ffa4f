// Several live instances of one store, as of several servers (S1, S2, S3, S5, S6, S7, S9, S10), and
// the refusal of a store that is for one instance only.
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "storage.hpp"

namespace davit::conformance {
namespace {

constexpr std::chrono::seconds hinted_within{5};

std::string own_id(const std::string& writer, int serial) {
  return writer + "-" + std::to_string(serial);
}

class StorageInstances : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_volatile()) GTEST_SKIP() << "in this configuration each instance has a store of its own";
    if (is_exclusive()) GTEST_SKIP() << "this store is for one instance (conformance.exclusive)";
    first_.emplace();
    second_.emplace(Store::beside(*first_));
  }
  Store& first() { return *first_; }
  Store& second() { return *second_; }
  // Both tell the same head and the same chain.
  void expect_the_same() {
    const auto one = first()->head(), other = second()->head();
    ASSERT_TRUE(one.ok()) << why(one);
    ASSERT_TRUE(other.ok()) << why(other);
    EXPECT_EQ(one->head, other->head);
    EXPECT_EQ(one->status_head, other->status_head);
    EXPECT_EQ(one->purged_through, other->purged_through);
    EXPECT_EQ(history(*first()), history(*second()));
    EXPECT_EQ(history(*first()).back(), one->head);
  }

 private:
  std::optional<Store> first_, second_;
};

TEST_F(StorageInstances, S1_CommitsOfBothGetAscendingVersions) {
  Version newest;
  for (int i = 0; i < 6; ++i) {
    Store& store = i % 2 == 0 ? first() : second();
    const Version version = put(*store, record(std::to_string(i)));
    EXPECT_GT(version, newest);
    newest = version;
  }
  EXPECT_EQ(ids(read_all(*first(), {}, {}, 2).records), ids(read_all(*second()).records));
  EXPECT_EQ(read_all(*first()).records.size(), 6u);
  expect_the_same();
}

TEST_F(StorageInstances, S3_WhatOneHasWrittenTheOtherReads) {
  const Version version = put(*first(), record("a"));
  const auto found = get(*second(), "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, version);
  EXPECT_EQ(second()->head()->head.version, version);
  ASSERT_TRUE(second()->report_now({status("a", 1)}).ok());
  const auto stored = read_statuses(*first());
  ASSERT_EQ(stored.size(), 1u);
  ASSERT_TRUE(first()->report_now({status("a", 1)}).ok());
  EXPECT_EQ(status_head(*second()).version, stored[0].status_version)
      << "a repetition through the other instance changed something";
  ASSERT_TRUE(first()->progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
  int agents = 0;
  ASSERT_TRUE(second()->agents({}, [&](const davit_progress&) { return ++agents, true; }).ok());
  EXPECT_EQ(agents, 1);
  expect_the_same();
}

TEST_F(StorageInstances, S5_WhatOneExpectsIsComparedWithWhatTheOtherHasWritten) {
  const Version v = put(*first(), record("a"));
  ASSERT_FALSE(commit(*second(), {{{record("a", "new"), v}}, {}}).error);
  const auto lost = commit(*first(), {{{record("a", "newer"), v}}, {}});
  ASSERT_TRUE(lost.error);
  EXPECT_EQ(lost.error->code, Code::aborted);
  EXPECT_EQ(lost.actual_version, second()->head()->head.version);
  EXPECT_EQ(get(*first(), "a")->payload, "new");
}

TEST_F(StorageInstances, S6_ARequestThatIsRepeatedThroughTheOtherChangesNothing) {
  const Group group{{{record("a")}, {record("b")}}, "request"};
  const auto made = commit(*first(), group);
  const auto again = commit(*second(), group);
  ASSERT_FALSE(again.error);
  EXPECT_EQ(again.first_version, made.first_version);
  EXPECT_EQ(again.incarnation, made.incarnation);
  EXPECT_EQ(read_all(*first()).records.size(), 2u);
  expect_the_same();
}

TEST_F(StorageInstances, S7_WhatOneHasPurgedTheOtherKnows) {
  const Version a = put(*first(), record("a"));
  const Version b = put(*first(), dead(record("b")));
  put(*first(), record("c"));
  const Incarnation incarnation = second()->head()->head.incarnation;
  EXPECT_TRUE(read_after(*second(), {incarnation, a}).ok());
  ASSERT_TRUE(first()->maintain({true, b}).ok());
  expect_refused(*second(), {incarnation, a});
  expect_the_same();
}

TEST_F(StorageInstances, S9_AHintFollowsWhatTheOtherWrites) {
  if (second().vtable()->watch == nullptr) GTEST_SKIP() << "this backend gives no hints";
  struct Heard {
    std::mutex mutex;
    std::condition_variable came;
    uint32_t what = 0;
    bool wait(uint32_t wanted) {
      std::unique_lock lock(mutex);
      return came.wait_for(lock, hinted_within, [&] { return (what & wanted) != 0; });
    }
  } heard;
  auto watch = second()->watch(
      [](void* ctx, uint32_t what) {
        auto& h = *static_cast<Heard*>(ctx);
        const std::lock_guard lock(h.mutex);
        h.what |= what;
        h.came.notify_all();
      },
      &heard);
  ASSERT_TRUE(watch.ok()) << why(watch);
  put(*first(), record("a"));
  EXPECT_TRUE(heard.wait(DAVIT_HINT_RECORDS));
  ASSERT_TRUE(first()->report_now({status("a", 1)}).ok());
  EXPECT_TRUE(heard.wait(DAVIT_HINT_STATUSES));
  ASSERT_TRUE(first()->progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
  EXPECT_TRUE(heard.wait(DAVIT_HINT_AGENTS));
}

TEST_F(StorageInstances, S10_ARestartOfOneLeavesTheCursorsOfBothGood) {
  put(*first(), record("a"));
  const Cursor before = second()->head()->head;
  first().stop();
  put(*second(), record("b"));
  const Cursor between = second()->head()->head;
  first().start();
  expect_the_same();
  for (Store* store : {&first(), &second()}) {
    EXPECT_EQ(ids(read_all(**store, before).records), std::vector<std::string>{"b"});
    EXPECT_TRUE(read_after(**store, between).ok());
    EXPECT_TRUE(knows(history(**store), before));
    EXPECT_TRUE(knows(history(**store), between));
  }
}

// If the start of one has begun an incarnation, the other one's commits are in it, too.
TEST_F(StorageInstances, S10_BothCommitInTheIncarnationThatBothTell) {
  put(*second(), record("a"));
  first().restart();
  for (int i = 0; i < 4; ++i) {
    Store& store = i % 2 == 0 ? second() : first();
    const auto made = commit(*store, {{{record("b" + std::to_string(i))}}, {}});
    ASSERT_FALSE(made.error);
    const Cursor at{made.incarnation, made.first_version};
    EXPECT_EQ(at, first()->head()->head);
    EXPECT_EQ(at, second()->head()->head);
    expect_the_same();
  }
}

// What two writers through each instance have committed, and what a reader through each has seen.
struct Traffic {
  std::mutex mutex;
  std::map<Version, std::string> committed;
  std::atomic<bool> done{false};

  // A slow store gets the time that it needs for some records of each writer.
  static constexpr int records_min = 10;
  void write(Store& store, const std::string& writer, std::chrono::steady_clock::time_point until) {
    for (int serial = 0; serial < records_min || std::chrono::steady_clock::now() < until;
         serial += 2) {
      const auto made = commit(
          *store, {{{record(own_id(writer, serial))}, {record(own_id(writer, serial + 1))}}, {}});
      ASSERT_FALSE(made.error) << made.error->message;
      const std::lock_guard lock(mutex);
      for (uint64_t i : {0, 1}) {
        EXPECT_TRUE(
            committed.emplace(made.first_version + i, own_id(writer, serial + static_cast<int>(i)))
                .second)
            << "a version was given twice";
      }
    }
  }
  void follow(Store& store, std::map<Version, std::string>& seen, uint64_t& disorder) {
    Cursor cursor;
    while (true) {
      const bool last = done;
      auto page = store->read({{}, cursor, 0, 7, UINT64_MAX}, [&](const davit_record& r) {
        disorder += !seen.empty() && Version(r.version) <= seen.rbegin()->first;
        seen[Version(r.version)] = text(r.key.id);
        return true;
      });
      ASSERT_TRUE(page.ok()) << why(page);
      cursor = {page->head.head.incarnation, page->next_version};
      if (last && !page->more) return;
      if (!page->more) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
};

TEST_F(StorageInstances, S2_NothingArrivesLateWhileBothWrite) {
  Traffic traffic;
  std::map<Version, std::string> seen[2];
  uint64_t disorder[2] = {0, 0};
  const auto until = std::chrono::steady_clock::now() + torture_time() / 2;
  std::vector<std::thread> writers, readers;
  for (int i : {0, 1}) {
    Store& store = i == 0 ? first() : second();
    readers.emplace_back([&, i] { traffic.follow(store, seen[i], disorder[i]); });
    for (const char* writer : {"a", "b"}) {
      writers.emplace_back(
          [&, writer, i] { traffic.write(store, writer + std::to_string(i), until); });
    }
  }
  for (auto& t : writers) t.join();
  traffic.done = true;
  for (auto& t : readers) t.join();
  for (int i : {0, 1}) {
    EXPECT_EQ(disorder[i], 0u);
    EXPECT_EQ(seen[i], traffic.committed) << "through instance " << i;
  }
  EXPECT_GE(traffic.committed.size(), size_t{4} * Traffic::records_min);
}

// A store of one process, such as a file.
TEST(StorageExclusive, ASecondInstanceIsRefusedAndTheFirstGoesOn) {
  if (!is_exclusive()) GTEST_SKIP() << "several instances may share this store";
  Store store;
  put(*store, record("a"));
  const auto before = *store->head();
  const History told = history(*store);
  for (int attempt = 0; attempt < 2; ++attempt) {
    Fresh second(store.fresh(), TestHost::Time::real);
    ASSERT_FALSE(second.up().ok()) << "a second instance has the store open";
    EXPECT_EQ(second.up().error().code, Code::unavailable) << why(second.up());
    EXPECT_NE(second.up().error().message, "");
  }
  EXPECT_EQ(store->head()->head, before.head) << "the refused one has changed something";
  EXPECT_EQ(history(*store), told);
  const auto made = commit(*store, {{{record("b")}}, {}});
  ASSERT_FALSE(made.error) << made.error->message;
  EXPECT_EQ(made.incarnation, before.head.incarnation);
  store.stop();
  Store next = Store::beside(store);
  EXPECT_TRUE(get(*next, "b"));
}

}  // namespace
}  // namespace davit::conformance

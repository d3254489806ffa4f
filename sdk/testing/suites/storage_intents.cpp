// Intents (I1 to I7 in abi/storage_intents.h), and the election of an instance that leads (E1 to E3
// in abi/storage_election.h), for a storage that has them. The command `conformance.intent` inserts
// an intent as another program does.
#include "davit/storage_intents.hpp"

#include <atomic>
#include <thread>

#include "davit/storage_election.hpp"
#include "storage.hpp"

namespace davit::conformance {
namespace {

constexpr std::chrono::seconds told_within{5}, leads_within{30};

bool within(std::chrono::seconds limit, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// Counts the hints that say one thing.
class Hinted {
 public:
  Hinted(Store& store, uint32_t what) : what_(what) {
    auto watch = store->watch(
        [](void* self, uint32_t told) {
          auto& hinted = *static_cast<Hinted*>(self);
          if ((told & hinted.what_) != 0) ++hinted.count_;
        },
        this);
    EXPECT_TRUE(watch.ok()) << why(watch);
    if (watch.ok()) watch_ = std::move(*watch);
  }
  int count() const { return count_; }

 private:
  const uint32_t what_;
  std::atomic<int> count_{0};
  storage::Watch watch_;  // last
};

class StorageIntents : public ::testing::Test {
 protected:
  void SetUp() override {
    if (store_.fresh().instance().role<void>(DAVIT_STORAGE_INTENTS) == nullptr)
      GTEST_SKIP() << "this storage keeps no intents";
    if (subject().options.string("intent").empty())
      GTEST_SKIP() << "conformance.intent, the command that inserts one, is not configured";
  }
  storage::Intents intents(Store& store) {
    return storage::Intents(store.fresh().instance().ref(DAVIT_STORAGE_INTENTS));
  }
  void write(const std::string& document) {
    const std::string command = subject()
                                    .options.with("$TMP", store_.fresh().directory())
                                    .with("$DOCUMENT", document)
                                    .string("intent");
    ASSERT_EQ(std::system(command.c_str()), 0) << "conformance.intent: " << command;
  }
  std::vector<storage::Intent> open(uint64_t after = 0, uint32_t limit = 100) {
    auto r = intents(store_).open(Op(), after, limit);
    EXPECT_TRUE(r.ok()) << why(r);
    return r.ok() ? *r : std::vector<storage::Intent>();
  }
  std::string documents(uint64_t after = 0, uint32_t limit = 100) {
    std::string out;
    for (const auto& intent : open(after, limit)) out += intent.document + " ";
    return out;
  }
  // Inserts one, and returns its id.
  uint64_t insert(const std::string& document) {
    write(document);
    for (const auto& intent : open()) {
      if (intent.document == document) return intent.id;
    }
    ADD_FAILURE() << "what the command has inserted is not open: " << document;
    return 0;
  }
  GroupResult carry_out(const std::string& id, uint64_t intent, Version expect = any_version) {
    return commit(*store_, {{{record(id), expect}}, {}, intent});
  }
  void expect_not_open(const GroupResult& result) {
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, Code::failed_precondition);
    EXPECT_EQ(result.error->where, "intent");
  }
  Store store_;
};

TEST_F(StorageIntents, I2_OpenOnesAreVisitedInTheOrderOfTheirIds) {
  for (const char* document : {"one", "two", "three"}) insert(document);
  const auto all = open();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_GT(all[0].id, 0u);
  EXPECT_LT(all[0].id, all[1].id);
  EXPECT_LT(all[1].id, all[2].id);
  EXPECT_EQ(documents(), "one two three ");
  EXPECT_EQ(documents(all[0].id), "two three ");
  EXPECT_EQ(documents(all[0].id, 1), "two ");
  EXPECT_EQ(documents(all[2].id), "");
  int visits = 0;
  davit_error e{};
  const davit_visit_intent stop = [](void* count, const davit_intent*) {
    return ++*static_cast<int*>(count) == 2 ? 1 : 0;
  };
  const auto* table = store_.fresh().instance().role<davit_storage_intents>(DAVIT_STORAGE_INTENTS);
  EXPECT_EQ(table->open(store_.self(), Op().abi(), 0, 100, stop, &visits, &e), DAVIT_OK);
  EXPECT_EQ(visits, 2) << "who has asked to stop was called again";
}

TEST_F(StorageIntents, I3_WhatACommitCarriesOutIsNotOpenAnyMore) {
  const uint64_t one = insert("one"), two = insert("two");
  const auto result = carry_out("a", one);
  ASSERT_FALSE(result.error) << result.error->message;
  EXPECT_EQ(get(*store_, "a")->version, result.first_version);
  EXPECT_EQ(documents(), "two ");
  EXPECT_FALSE(carry_out("b", two).error);
  EXPECT_EQ(documents(), "");
}

TEST_F(StorageIntents, I3_AGroupThatFailsLeavesItsIntentOpen) {
  const uint64_t one = insert("one");
  const auto failed = carry_out("a", one, Version(7));
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, Code::aborted);
  EXPECT_EQ(documents(), "one ");
  EXPECT_FALSE(carry_out("a", one).error);
  EXPECT_EQ(documents(), "");
}

TEST_F(StorageIntents, I4_AnIntentIsCarriedOutOnce) {
  const uint64_t one = insert("one");
  ASSERT_FALSE(carry_out("a", one).error);
  const Version head = store_->head()->head.version;
  expect_not_open(carry_out("b", one));
  expect_not_open(carry_out("b", one + 1'000));
  EXPECT_FALSE(get(*store_, "b"));
  EXPECT_EQ(store_->head()->head.version, head);
}

TEST_F(StorageIntents, I4_OfTwoInstancesOneCarriesItOut) {
  if (is_volatile() || is_exclusive()) GTEST_SKIP() << "this store is for one instance";
  Store other = Store::beside(store_);
  for (int round = 0; round < 20; ++round) {
    const std::string id = "r" + std::to_string(round);
    const uint64_t intent = insert(id);
    std::optional<GroupResult> theirs;
    std::thread rival([&] {
      auto r = other->commit_now({{{{record(id + "-theirs")}}, {}, intent}});
      if (r.ok()) theirs = r->front();
    });
    const auto ours = carry_out(id + "-ours", intent);
    rival.join();
    ASSERT_TRUE(theirs);
    // The one that came second may not know yet what becomes of the first.
    ASSERT_NE(ours.error.has_value(), theirs->error.has_value());
    const Error& lost = ours.error ? *ours.error : *theirs->error;
    EXPECT_TRUE(lost.code == Code::failed_precondition || lost.code == Code::unavailable);
    EXPECT_EQ(lost.where, "intent");
    EXPECT_EQ(get(*store_, id + "-ours").has_value(), !ours.error);
    EXPECT_EQ(get(*store_, id + "-theirs").has_value(), !theirs->error);
  }
  EXPECT_EQ(documents(), "");
}

TEST_F(StorageIntents, I5_WhatIsSettledIsNotOpenAnyMore) {
  const uint64_t failed = insert("failed"), found = insert("found"), gone = insert("gone");
  const auto settle = [&](const storage::IntentOutcome& outcome) {
    const auto r = intents(store_).settle(Op(), outcome);
    EXPECT_TRUE(r.ok()) << why(r);
  };
  const Version version = put(*store_, record("a"));
  settle({failed, Error{Code::invalid_argument, "is wrong", "spec"}});
  EXPECT_EQ(documents(), "found gone ");
  settle({found, std::nullopt, {store_->head()->head.incarnation, version}});
  settle({gone});
  EXPECT_EQ(documents(), "");
  for (const uint64_t id : {failed, found, gone}) {
    settle({id, Error{Code::internal, "too late", ""}});
    expect_not_open(carry_out("b", id));
  }
  settle({gone + 1'000});
  EXPECT_FALSE(get(*store_, "b"));
}

TEST_F(StorageIntents, I6_AHintFollowsAnInsert) {
  if (store_.vtable()->watch == nullptr) GTEST_SKIP() << "this backend gives no hints";
  Hinted hinted(store_, DAVIT_HINT_INTENTS);
  // A store may take a moment before it hears of other programs.
  int n = 0;
  ASSERT_TRUE(within(leads_within, [&] {
    write("warm" + std::to_string(++n));
    return within(std::chrono::seconds(1), [&] { return hinted.count() > 0; });
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const int before = hinted.count();
  insert("one");
  EXPECT_TRUE(within(told_within, [&] { return hinted.count() > before; }));
}

TEST_F(StorageIntents, I7_EachHasAnAuthor) {
  insert("one");
  EXPECT_FALSE(open().at(0).author.empty());
}

TEST_F(StorageIntents, S6_ARepeatedRequestIsAnsweredThoughItsIntentIsDecided) {
  const uint64_t one = insert("one");
  const Group group{{{record("a")}}, "request", one};
  const auto made = commit(*store_, group);
  ASSERT_FALSE(made.error) << made.error->message;
  const auto again = commit(*store_, group);
  ASSERT_FALSE(again.error) << again.error->message;
  EXPECT_EQ(again.first_version, made.first_version);
}

class StorageElection : public ::testing::Test {
 protected:
  void SetUp() override {
    Fresh fresh;
    if (fresh.instance().role<void>(DAVIT_STORAGE_ELECTION) == nullptr)
      GTEST_SKIP() << "this storage elects nobody";
  }
  static bool leads(Store& store) {
    return storage::Election(store.fresh().instance().ref(DAVIT_STORAGE_ELECTION)).leads();
  }
};

TEST_F(StorageElection, E1_WhoIsAloneLeads) {
  Store store;
  EXPECT_TRUE(within(leads_within, [&] { return leads(store); }));
}

TEST_F(StorageElection, E1_OfTwoOneLeadsAndE2_TheOtherWhenItStops) {
  if (is_volatile() || is_exclusive()) GTEST_SKIP() << "this store is for one instance";
  auto first = std::make_unique<Store>();
  ASSERT_TRUE(within(leads_within, [&] { return leads(*first); }));
  Store second = Store::beside(*first);
  Hinted hinted(second, DAVIT_HINT_LEADER);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_TRUE(leads(*first));
  EXPECT_FALSE(leads(second));
  first->stop();
  EXPECT_TRUE(within(leads_within, [&] { return leads(second); }));
  if (second.vtable()->watch != nullptr) {
    EXPECT_TRUE(within(told_within, [&] { return hinted.count() > 0; })) << "E3";
  }
}

}  // namespace
}  // namespace davit::conformance

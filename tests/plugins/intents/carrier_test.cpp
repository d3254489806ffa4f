// What a Carrier does with the intents of a store, which the test plays with the role records.
#include "carrier.hpp"

#include <gtest/gtest.h>

#include "fakes/empty_storage.hpp"

namespace davit::intents {
namespace {

using testing::TestHost;
using namespace std::chrono_literals;

std::string document(const std::string& id, const std::string& more = "") {
  return R"({"kind": "k", "region": "r", "id": ")" + id + R"(", "spec": {})" + more + "}";
}

class FakeStore : public testing::EmptyStorage {
 public:
  bool leads() const { return leads_; }
  Result<> open_intents(const Op&, uint64_t after, uint32_t limit,
                        const storage::VisitIntent& visit) {
    ++reads;
    if (unreadable) return Error{Code::unavailable, "is away"};
    limit = std::min(limit, page_max);
    for (auto i = open.upper_bound(after); i != open.end() && limit > 0; ++i, --limit) {
      if (!visit({i->first, i->second, "alice"})) break;
    }
    return {};
  }
  Result<> settle_intent(const Op&, const storage::IntentOutcome& outcome) {
    if (unwritable) return Error{Code::unavailable, "is away"};
    if (open.erase(outcome.id) != 0)
      settled[outcome.id] =
          outcome.error ? outcome.error->message : "version " + to_string(outcome.at.version);
    return {};
  }
  bool leads_ = true, unreadable = false, unwritable = false;
  int reads = 0;
  uint32_t page_max = UINT32_MAX;
  std::map<uint64_t, std::string> open, settled;
};

// Keeps each apply until the test answers it.
class FakeRecords {
 public:
  struct Call {
    records::Apply request;
    records::ApplyDone done;
  };
  void apply(const Op&, records::Apply request, const records::ApplyDone& done) {
    calls.push_back({std::move(request), done});
  }
  void get(const Op&, const Query&, const records::Done&) {}
  void list(const Op&, const records::Read&, const records::Done&) {}
  Result<records::WatchHandle*> watch(const records::Read&, uint32_t, const records::Watcher&) {
    return nullptr;
  }
  void credit(records::WatchHandle*, uint32_t) {}
  void cancel(records::WatchHandle*) {}
  std::vector<Call> calls;
};

template <class Role, class T>
davit_ref ref(T& object) {
  return {reinterpret_cast<davit_instance*>(&object), Role::template vtable<T>(), str("main")};
}

class CarrierTest : public ::testing::Test {
 protected:
  CarrierTest() { carrier_.start(); }
  ~CarrierTest() override {
    carrier_.stop();
    host_.run();
    while (!records_.calls.empty()) answer(Error{Code::cancelled, "is over"});
    EXPECT_TRUE(carrier_.outstanding().wait(host_.host(), Op()).ok());
  }
  // The ids of the documents that are under way.
  std::string under_way() {
    host_.run();
    std::string out;
    for (const auto& call : records_.calls) out += call.request.documents.at(0).key.id + " ";
    return out;
  }
  // Answers the oldest call.
  void answer(std::optional<Error> error, const std::string& outcome = "changed") {
    const auto call = records_.calls.front();
    records_.calls.erase(records_.calls.begin());
    // A store writes the outcome with the commit.
    if (!error && outcome == "changed") store_.open.erase(call.request.intent);
    call.done({{call.request.documents.at(0).key, error ? "" : outcome, {1, 5}, error}});
    host_.run();
  }
  void insert(uint64_t id, const std::string& text) {
    store_.open[id] = text;
    carrier_.wake();
  }

  TestHost host_{"intents", {}, TestHost::Time::manual};
  FakeStore store_;
  FakeRecords records_;
  Carrier carrier_{
      host_.host(),
      {testing::client_of(host_, store_), storage::Intents(ref<storage::IntentsRole>(store_)),
       storage::Election(ref<storage::ElectionRole>(store_)),
       records::Client(ref<records::Role>(records_), "intents")},
      5s};
};

TEST_F(CarrierTest, AppliesInTheNameOfWhoHasInserted) {
  insert(7, document("a", R"(, "expect": 3)"));
  EXPECT_EQ(under_way(), "a ");
  const records::Apply& request = records_.calls[0].request;
  EXPECT_EQ(request.intent, 7u);
  EXPECT_EQ(request.author, "intents/alice");
  EXPECT_EQ(request.documents.at(0).expect, Version(3));
  EXPECT_FALSE(request.dry_run);
  answer({});
  EXPECT_TRUE(store_.settled.empty()) << "the store has written it with the commit";
}

TEST_F(CarrierTest, DifferentRecordsAtOnceOneRecordInOrder) {
  insert(1, document("a", R"(, "state": "first")"));
  insert(2, document("b"));
  insert(3, document("a", R"(, "state": "second")"));
  insert(4, document("c"));
  EXPECT_EQ(under_way(), "a b ") << "what is behind one that waits, waits";
  answer({});
  EXPECT_EQ(under_way(), "b a c ");
  EXPECT_EQ(records_.calls[1].request.documents.at(0).state, "second");
}

TEST_F(CarrierTest, ADocumentWithoutAnIdMayBeAnyOfItsKindAndRegion) {
  insert(1, document("a"));
  insert(2, R"({"kind": "k", "region": "r", "spec": {}})");
  insert(3, R"({"kind": "k", "region": "s", "spec": {}})");
  EXPECT_EQ(under_way(), "a ");
  answer({});
  EXPECT_EQ(under_way(), "  ") << "both are under way: they are of different regions";
}

TEST_F(CarrierTest, WhatIsWrongIsSettledAndOthersGoOn) {
  insert(1, "hello");
  insert(2, document("a"));
  insert(3, document("b"));
  EXPECT_EQ(under_way(), "a b ");
  answer(Error{Code::invalid_argument, "is wrong", "spec.x"});
  answer({}, "unchanged");
  EXPECT_TRUE(store_.settled[1].starts_with("is not JSON")) << store_.settled[1];
  EXPECT_EQ(store_.settled[2], "is wrong");
  EXPECT_EQ(store_.settled[3], "version 5");
  EXPECT_TRUE(store_.open.empty());
  EXPECT_EQ(host_.metric("davit_intents_refused_total"), 2);
  EXPECT_EQ(host_.metric("davit_intents_carried_out_total"), 1);
}

TEST_F(CarrierTest, WhatFailsForAWhileStaysOpenWithTheLaterOnesOfItsRecord) {
  insert(1, document("a", R"(, "state": "first")"));
  insert(2, document("b"));
  insert(3, document("a", R"(, "state": "second")"));
  EXPECT_EQ(under_way(), "a b ");
  answer(Error{Code::unavailable, "not now"});
  EXPECT_EQ(under_way(), "b ") << "the second one of the record would overtake the first";
  answer({});
  EXPECT_EQ(under_way(), "");
  EXPECT_EQ(store_.open.size(), 2u);
  host_.advance(1s);
  ASSERT_EQ(under_way(), "a ");
  EXPECT_EQ(records_.calls[0].request.documents.at(0).state, "first");
  answer({});
  EXPECT_EQ(under_way(), "a ");
  EXPECT_EQ(records_.calls[0].request.documents.at(0).state, "second");
}

TEST_F(CarrierTest, WhoExpectsAnotherVersionExpectsItInVain) {
  insert(1, document("a", R"(, "expect": 3)"));
  insert(2, document("b"));
  EXPECT_EQ(under_way(), "a b ");
  answer(Error{Code::aborted, "has version 4", "expect"});
  answer(Error{Code::aborted, "others were faster"});
  EXPECT_EQ(store_.settled[1], "has version 4");
  EXPECT_EQ(store_.open.count(2), 1u);
}

TEST_F(CarrierTest, AnOutcomeThatCannotBeWrittenIsTriedAgain) {
  store_.unwritable = true;
  insert(1, document("a"));
  EXPECT_EQ(under_way(), "a ");
  answer(Error{Code::invalid_argument, "is wrong"});
  EXPECT_EQ(store_.open.count(1), 1u);
  store_.unwritable = false;
  host_.advance(1s);
  EXPECT_EQ(under_way(), "a ");
  answer(Error{Code::invalid_argument, "is wrong"});
  EXPECT_EQ(store_.settled[1], "is wrong");
}

TEST_F(CarrierTest, ReadsPageAfterPage) {
  for (uint64_t n = 1; n <= 600; ++n) store_.open[n] = document("d" + std::to_string(n));
  carrier_.wake();
  int most = 0, answered = 0;
  while (!under_way().empty()) {
    most = std::max(most, static_cast<int>(records_.calls.size()));
    answer({});
    ++answered;
  }
  EXPECT_EQ(answered, 600);
  EXPECT_EQ(most, 256);
}

TEST_F(CarrierTest, APageMayBeShorterThanItWasAskedFor) {
  store_.page_max = 1;
  for (uint64_t n = 1; n <= 3; ++n) store_.open[n] = document("d" + std::to_string(n));
  carrier_.wake();
  for (const char* id : {"d1 ", "d2 ", "d3 "}) {
    EXPECT_EQ(under_way(), id);
    answer({});
  }
}

TEST_F(CarrierTest, WhatCannotSucceedYetHoldsNoLaterPageUp) {
  for (uint64_t n = 1; n <= 257; ++n) store_.open[n] = document("d" + std::to_string(n));
  carrier_.wake();
  under_way();
  for (int n = 0; n < 256; ++n) answer(Error{Code::unavailable, "not now"});
  EXPECT_EQ(under_way(), "d257 ");
}

TEST_F(CarrierTest, WhoDoesNotLeadDoesNothingAndBeginsWhenItLeads) {
  store_.leads_ = false;
  insert(1, document("a"));
  EXPECT_EQ(under_way(), "");
  EXPECT_EQ(store_.reads, 0);
  store_.leads_ = true;
  host_.advance(7s);
  EXPECT_EQ(under_way(), "a ") << "it looks at intervals, for a hint may be lost";
}

TEST_F(CarrierTest, AStoreThatCannotBeReadIsToldOnceAndReadAgain) {
  store_.unreadable = true;
  insert(1, document("a"));
  host_.run();
  for (int n = 0; n < 10; ++n) host_.advance(5s);
  EXPECT_TRUE(host_.logged("warn: intents cannot be read"));
  EXPECT_GT(store_.reads, 5);
  EXPECT_LT(store_.reads, 30);
  store_.unreadable = false;
  host_.advance(6s);
  EXPECT_EQ(under_way(), "a ");
  EXPECT_TRUE(host_.logged("info: intents can be read again"));
}

TEST_F(CarrierTest, AHintDuringAPassIsNotLost) {
  insert(5, document("a"));
  EXPECT_EQ(under_way(), "a ");
  insert(3, document("b"));  // its number was taken earlier, and its transaction ended later
  EXPECT_EQ(under_way(), "a ");
  answer({});
  EXPECT_EQ(under_way(), "b ");
}

}  // namespace
}  // namespace davit::intents

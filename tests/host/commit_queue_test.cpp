// What goes together into one call of a storage, and what becomes of the others when one fails.
#include "commit_queue_rig.hpp"

namespace davit::host {
namespace {

TEST_F(CommitQueueTest, WhatGathersIsCommittedTogether) {
  occupy();
  for (const char* id : {"a", "b", "c"}) commit({mutation(id)});
  EXPECT_EQ(answers(), "first=1 a=2 b=3 c=4");
  EXPECT_EQ(storage_.calls(), "first|a,b,c");
  EXPECT_EQ(storage_.most_at_once, 1);
}

TEST_F(CommitQueueTest, GroupsThatShareAKeyOrANameOrARequestGoOneAfterTheOther) {
  occupy();
  commit({mutation("a", "web")});
  commit({mutation("b", "web")});
  commit({mutation("c"), mutation("a")});
  commit({mutation("d")}, "r1");
  commit({mutation("e")}, "r1");
  EXPECT_EQ(answers(), "first=1 a=2 d=3 b=4 c=5 e=7");
  EXPECT_EQ(storage_.calls(), "first|a,d|b,c,e");
}

TEST_F(CommitQueueTest, ABatchEndsAtItsBytes) {
  occupy();
  for (const char* id : {"a", "b", "c", "d", "e"}) commit({mutation(id, {}, 100)});
  answers();
  EXPECT_EQ(storage_.calls(),
            "first|a,b,c|d,e");  // 253 bytes each beside the payload, 1100 a batch
}

TEST_F(CommitQueueTest, ABatchEndsAtItsNumber) {
  occupy();
  for (const char* id : {"a", "b", "c", "d", "e"}) commit({mutation(id)});
  answers();
  EXPECT_EQ(storage_.calls(), "first|a,b,c,d|e");
}

TEST_F(CommitQueueTest, EachGroupHasItsOwnResult) {
  storage_.poison = "b";
  occupy();
  for (const char* id : {"a", "b", "c"}) commit({mutation(id)});
  EXPECT_EQ(answers(), "first=1 a=2 b=version is 9 c=4");
}

TEST_F(CommitQueueTest, ACallThatFailsAsAWholeIsEverybodysAnswer) {
  storage_.whole_call_fails_with = DAVIT_UNAVAILABLE;
  occupy();
  commit({mutation("a")});
  commit({mutation("b")});
  EXPECT_EQ(answers(), "first=the database is away a=the database is away b=the database is away");
  EXPECT_EQ(storage_.calls(), "first|a,b");  // a failure may hide a success: never repeated
}

TEST_F(CommitQueueTest, AResultThatIsMissingIsAnError) {
  storage_.forgets_results = true;
  commit({mutation("a")});
  EXPECT_EQ(answers(), "a=the storage gave no result");
}

TEST_F(CommitQueueTest, RefusesAnEmptyGroupAndOneThatIsTooLarge) {
  storage_.limits.group_records = 3;
  commit({});
  commit({mutation("a"), mutation("b"), mutation("c"), mutation("d")});
  std::string all = answers();
  EXPECT_NE(all.find("none=storage \"main\": a group has 1 to 3 records, not 0"), std::string::npos)
      << all;
  EXPECT_NE(all.find("a=storage \"main\": a group has 1 to 3 records, not 4"), std::string::npos)
      << all;
  EXPECT_EQ(storage_.calls(), "");
}

TEST_F(CommitQueueTest, ACommitHoldsNoMoreRecordsThanTheStorageTakes) {
  storage_.limits.group_records = 3;
  occupy();
  commit({mutation("a"), mutation("b")});
  commit({mutation("c")});
  commit({mutation("d")});
  EXPECT_EQ(answers(), "first=1 a=2 c=4 d=5");
  EXPECT_EQ(storage_.calls(), "first|a,c|d");
}

TEST_F(CommitQueueTest, ACommitHoldsNoMoreBytesThanTheStorageTakes) {
  storage_.limits.group_bytes = storage_.limits.record_bytes = 500;
  occupy();
  for (const char* id : {"a", "b", "c"}) commit({mutation(id, {}, 100)});
  answers();
  EXPECT_EQ(storage_.calls(), "first|a|b|c");
}

TEST_F(CommitQueueTest, DividesAReportByTheNumberThatTheStorageTakes) {
  storage_.limits.report_statuses = 2;
  report({"a", "b", "c", "d", "e"});
  EXPECT_EQ(answers(), "a=ok");
  EXPECT_EQ(storage_.calls(), "a,b|c,d|e");
}

TEST_F(CommitQueueTest, OfADividedReportTheFirstErrorIsTheAnswer) {
  storage_.limits.report_statuses = 2;
  storage_.poison = "c";
  report({"a", "b", "c", "d", "e"});
  EXPECT_EQ(answers(), "a=poison");
  EXPECT_EQ(storage_.calls(), "a,b|c,d");
}

TEST_F(CommitQueueTest, RefusesWhatNoStorageKeepsBeforeItReachesOne) {
  commit({mutation(std::string(254, 'i'))});
  report({std::string("a\0b", 3)});
  const std::string all = answers();
  EXPECT_NE(all.find("id has 254 bytes, and may have 253"), std::string::npos) << all;
  EXPECT_NE(all.find("id has the character U+0000, which databases do not keep"), std::string::npos)
      << all;
  EXPECT_EQ(storage_.calls(), "");
}

TEST_F(CommitQueueTest, AsksForTheLimitsUntilTheStorageIsOpen) {
  storage_.not_started = true;
  report({"a"});
  storage_.not_started = false;
  report({"b"});
  const std::string all = answers();
  EXPECT_NE(all.find("a=storage \"main\": is not open"), std::string::npos) << all;
  EXPECT_NE(all.find("b=ok"), std::string::npos) << all;
  EXPECT_EQ(storage_.calls(), "b");
}

TEST_F(CommitQueueTest, RefusesMoreWhenFull) {
  occupy();
  for (int i = 0; i < 7; ++i) commit({mutation("id" + std::to_string(i))});
  const std::string all = answers();
  EXPECT_NE(all.find("id6=storage \"main\": too many commits wait"), std::string::npos) << all;
  EXPECT_NE(all.find("id5=7"), std::string::npos) << all;
}

TEST_F(CommitQueueTest, WhoGaveUpBeforeTheTurnCameIsAnsweredAndNothingIsCommitted) {
  const Operation gone;
  const Operation past(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  occupy();
  op_ = gone;
  commit({mutation("gone")});
  op_ = past;
  commit({mutation("past")});
  op_ = Op();
  commit({mutation("waits")});
  gone.cancel();
  EXPECT_EQ(answers(), "first=1 gone=the caller has given up past=the deadline has passed waits=2");
  EXPECT_EQ(storage_.calls(), "first|waits");
}

TEST_F(CommitQueueTest, OfWhatGoesTogetherTheLatestDeadlineHolds) {
  const int64_t now =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  constexpr int64_t minute = 60'000'000'000;
  const Operation soon(now + minute), late(now + 3 * minute);
  occupy();
  op_ = late;
  commit({mutation("late")});
  op_ = soon;
  commit({mutation("soon")});
  EXPECT_EQ(answers(), "first=1 late=2 soon=3");
  EXPECT_EQ(storage_.calls(), "first|late,soon");
  EXPECT_EQ(storage_.deadline, now + 3 * minute);
}

TEST_F(CommitQueueTest, AnIntentReachesOnlyAStorageThatHasThem) {
  const auto commit_intent = [&](uint64_t intent) {
    std::promise<std::string> said;
    Group group{{mutation("a")}, {}};
    group.intent = intent;
    queue_.commit({op_, group,
                   [](void* ctx, const davit_group_result* r) {
                     static_cast<std::promise<std::string>*>(ctx)->set_value(
                         from_abi(*r).error ? from_abi(*r).error->message : "committed");
                   },
                   &said});
    return said.get_future().get();
  };
  EXPECT_EQ(commit_intent(7), "storage \"main\": keeps no intents");
  EXPECT_EQ(storage_.calls(), "");
  EXPECT_EQ(commit_intent(0), "committed");
  queue_.let_intents_in();
  EXPECT_EQ(commit_intent(7), "committed");
  EXPECT_EQ(storage_.calls(), "a|a");
}

TEST_F(CommitQueueTest, WithoutADeadlineOfACallerTheHostsOwnHolds) {
  const auto clock = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  CommitQueues queues;
  queues.add("main", storage_.ref(), pool_, nullptr, log_, 7min);
  ASSERT_NE(queues.find("main"), nullptr);
  const int64_t before = clock();
  bool done = false;
  queues.find("main")->commit(
      {op_, Group{{mutation("a")}, {}},
       [](void* ctx, const davit_group_result*) { *static_cast<bool*>(ctx) = true; }, &done});
  EXPECT_EQ(answers(), "");
  EXPECT_TRUE(done);
  constexpr int64_t timeout = std::chrono::nanoseconds(7min).count();
  EXPECT_GE(storage_.deadline, before + timeout);
  EXPECT_LE(storage_.deadline, clock() + timeout);
}

TEST_F(CommitQueueTest, ACallOfTheStorageIsCancelledWhenAllWhoWaitHaveGivenUp) {
  const Operation one, two;
  storage_.hold();
  op_ = one;
  commit({mutation("a")});
  storage_.wait_until_called();
  one.cancel();  // nobody else waits for it
  storage_.wait_until_calls("a");
  EXPECT_EQ(text_of_answers(1), "a=cancelled in the storage");
  op_ = two;
  commit({mutation("b")});
  EXPECT_EQ(answers(), "a=cancelled in the storage b=1");
}

TEST_F(CommitQueueTest, ACallOfTheStorageGoesOnWhileOneStillWaits) {
  const Operation first, one, two;
  op_ = first;
  occupy();
  op_ = one;
  commit({mutation("a")});
  op_ = two;
  commit({mutation("b")});
  first.cancel();
  storage_.wait_until_calls("first|a,b");
  one.cancel();
  EXPECT_EQ(answers(), "first=cancelled in the storage a=1 b=2");
}

TEST_F(CommitQueueTest, ReportsAreBatchedOnTheirOwn) {
  storage_.hold();
  report({"first"});
  storage_.wait_until_called();
  report({"a", "b"});
  report({"c"});
  report({"b"});  // the same key waits
  EXPECT_EQ(answers(), "first=ok a=ok c=ok b=ok");
  EXPECT_EQ(storage_.calls(), "first|a,b,c|b");
}

TEST_F(CommitQueueTest, APoisonedReportFailsAlone) {
  storage_.poison = "b";
  storage_.hold();
  report({"first"});
  storage_.wait_until_called();
  for (const char* id : {"a", "b", "c"}) report({id});
  EXPECT_EQ(answers(), "first=ok a=ok b=poison c=ok");
  EXPECT_EQ(storage_.calls(), "first|a,b,c|a|b|c");
}

TEST_F(CommitQueueTest, ReportsToAStorageThatIsAwayAreNotTriedOneByOne) {
  storage_.whole_call_fails_with = DAVIT_RESOURCE_EXHAUSTED;
  storage_.hold();
  report({"first"});
  storage_.wait_until_called();
  report({"a"});
  report({"b"});
  answers();
  EXPECT_EQ(storage_.calls(), "first|a,b");
}

TEST_F(CommitQueueTest, ReportsAreTriedAgainWhenTheStorageFailsInPassing) {
  storage_.report_answers = {DAVIT_UNAVAILABLE, DAVIT_ABORTED};
  report({"a", "b"});
  EXPECT_EQ(answers(), "a=ok");
  EXPECT_EQ(storage_.calls(), "a,b|a,b|a,b");
}

TEST_F(CommitQueueTest, ReportsAreTriedThreeTimesAndThenAnsweredWithTheStoragesOwnText) {
  storage_.whole_call_fails_with = DAVIT_UNAVAILABLE;
  storage_.hold();
  report({"first"});
  storage_.wait_until_called();
  report({"a"});
  report({"b"});
  EXPECT_EQ(answers(), "first=the database is away a=the database is away b=the database is away");
  EXPECT_EQ(storage_.calls(), "first|first|first|a,b|a,b|a,b");
}

TEST_F(CommitQueueTest, ReportsThatCannotSucceedAreNotRepeated) {
  storage_.report_answers = {DAVIT_RESOURCE_EXHAUSTED, DAVIT_DATA_LOSS, DAVIT_INTERNAL};
  for (int i = 0; i < 3; ++i) report({"a"});
  EXPECT_EQ(answers(),
            "a=the database is locked a=the database is locked a=the database is locked");
  EXPECT_EQ(storage_.calls(), "a|a|a");
}

TEST_F(CommitQueueTest, ReportsThatAreTriedOneByOneEndWhenTheStorageGoesAway) {
  storage_.report_answers = {DAVIT_OK, DAVIT_INVALID_ARGUMENT, DAVIT_OK, DAVIT_DATA_LOSS,
                             DAVIT_RESOURCE_EXHAUSTED};
  storage_.hold();
  report({"first"});
  storage_.wait_until_called();
  for (const char* id : {"a", "b", "c", "d"}) report({id});
  EXPECT_EQ(answers(),
            "first=ok a=ok b=the database is locked c=the database is locked "
            "d=the database is locked");
  EXPECT_EQ(storage_.calls(), "first|a,b,c,d|a|b|c");
}

// A backend in C++ that answers for fewer groups than it was given.
struct ShortOfAnswers {
  static storage::Limits limits() { return {}; }
  Result<Head> head(const Op&) { return Head{}; }
  Result<Page> read(const Op&, const ReadRequest&, const storage::VisitRecord&) { return Page{}; }
  Result<Head> get(const Op&, const GetRequest&, const storage::VisitRecord&) { return Head{}; }
  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>&) {
    return std::vector<GroupResult>();
  }
  Result<> report(const Op&, const std::vector<Status>&) { return {}; }
  Result<StatusPage> statuses(const Op&, const StatusRead&, const storage::VisitStatus&) {
    return StatusPage{};
  }
  Result<> progress(const Op&, const Progress&) { return {}; }
  Result<bool> agents(const Op&, const AgentRead&, const storage::VisitProgress&) { return false; }
  Result<> maintain(const Op&, const storage::Maintain&) { return {}; }
  Result<> history(const Op&, const storage::VisitCursor&) { return {}; }
};

TEST(CommitQueue, ABackendThatForgetsAnswersIsTheOneThatFails) {
  ShortOfAnswers backend;
  Pool pool("main", 2);
  CommitQueue queue({reinterpret_cast<davit_instance*>(&backend),
                     storage::Role::vtable<ShortOfAnswers>(), str("main")},
                    pool);
  std::string answer;
  Mutation m;
  m.record.key = {"deployment", "eu", "a"};
  queue.commit({Op(), Group{{m}, {}},
                [](void* ctx, const davit_group_result* r) {
                  *static_cast<std::string*>(ctx) = from_abi(*r).error->message;
                },
                &answer});
  EXPECT_TRUE(pool.shutdown(std::chrono::steady_clock::time_point::max()));
  EXPECT_EQ(answer, "commit gave 0 results for 1 groups");
}

}  // namespace
}  // namespace davit::host

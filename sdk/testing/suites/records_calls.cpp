// Role records: how calls are answered (R7, R8).
#include <thread>

#include "records.hpp"

namespace davit::conformance {
namespace {

using RecordsCalls = Records;

TEST_F(RecordsCalls, R7_EachCallIsAnsweredOnceWhateverElseIsAsked) {
  constexpr int threads_count = 8, rounds = 8;
  const Operation op;
  auto& answers = calls_.emplace_back();
  auto bad = document("bad");
  bad.spec = sample_.refused[0].first;
  std::vector<std::thread> threads;
  for (int t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < rounds; ++n) {
        const std::string id = std::to_string(t) + "x" + std::to_string(n);
        answers.apply(ref_, records::Apply{{document(id), document(id + "b")}, id, false, "suite"},
                      op);
        answers.apply(ref_, records::Apply{{document(id), bad}, {}, false, "suite"}, op);
        answers.get(ref_, {key(id), {}, {}}, op);
        answers.list(ref_, all_of_region(), op);
      }
    });
  }
  for (auto& t : threads) t.join();
  constexpr size_t all = size_t{threads_count} * rounds * 4;
  EXPECT_TRUE(answers.wait(all));
  fresh_->stop();
  EXPECT_EQ(answers.count(), all);
}

TEST_F(RecordsCalls, R7_StopAnswersWhatIsOpen) {
  const Operation op;
  auto& answers = calls_.emplace_back();
  for (int n = 0; n < 32; ++n) {
    answers.apply(ref_, records::Apply{{document(std::to_string(n))}, {}, false, "suite"}, op);
    answers.list(ref_, all_of_region(), op);
  }
  ASSERT_TRUE(fresh_->instance().stop().ok());
  EXPECT_EQ(answers.count(), 64u);
  fresh_->stop();
  EXPECT_EQ(answers.count(), 64u) << "and no more than that";
}

TEST_F(RecordsCalls, R7_WhatIsCalledAfterTheStopIsUnavailable) {
  ASSERT_TRUE(fresh_->instance().stop().ok());
  EXPECT_EQ(outcomes(apply({document("a"), document("b")})), "14 14");
  const auto got = get({key("a"), {}, {}});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, Code::unavailable);
  const auto listed = list(all_of_region());
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, Code::unavailable);
  RecordsSeen seen(ref_, all_of_region(), 10);
  ASSERT_TRUE(seen.wait_for_end());
  EXPECT_EQ(seen.why()->code, Code::unavailable);
}

TEST_F(RecordsCalls, R8_ACallThatIsOverBeginsNothing) {
  for (const bool cancelled : {false, true}) {
    Operation op(cancelled ? INT64_MAX : fresh_->host().host().now().count() - 1);
    if (cancelled) op.cancel();
    const Code expected = cancelled ? Code::cancelled : Code::deadline_exceeded;
    auto& answers = calls_.emplace_back();
    answers.apply(ref_, records::Apply{{document("a"), document("b")}, {}, false, "suite"}, op);
    ASSERT_TRUE(answers.wait(1));
    answers.get(ref_, {key("a"), {}, {}}, op);
    ASSERT_TRUE(answers.wait(2));
    answers.list(ref_, all_of_region(), op);
    ASSERT_TRUE(answers.wait(3));
    ASSERT_EQ(answers.applied(0).size(), 2u);
    for (const auto& r : answers.applied(0)) {
      ASSERT_TRUE(r.error) << "cancelled: " << cancelled;
      EXPECT_EQ(r.error->code, expected);
    }
    for (const size_t n : {1, 2}) {
      ASSERT_FALSE(answers.found(n).ok()) << n;
      EXPECT_EQ(answers.found(n).error().code, expected);
    }
  }
  EXPECT_EQ(everything(), "");
}

}  // namespace
}  // namespace davit::conformance

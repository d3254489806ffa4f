// The epoch of a reporter: with what it begins, and what it does when another agent of its region
// was there with a greater one.
#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include "../watcher/fake_rpc.hpp"
#include "reporter.hpp"

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;

// A reporter that has not been answered yet.
class NewReporter : public ::testing::Test {
 protected:
  NewReporter()
      : host_("reporter", {}, TestHost::Time::manual),
        rpc_(host_, "davit.v1"),
        strand_(host_.host().strand()),
        calls_(host_.host(), *rpc::Channel::find(host_, "control"), strand_, 10s),
        reporter_(host_.host(), {}, strand_, "eu", "agent-1") {
    reporter_.use(davit_v1(calls_));
    strand_.post([this] { reporter_.start(7); });
    Status s;
    s.key = {"deployment", "eu", "a"};
    reporter_.offer(std::move(s));
    host_.advance(1s);
  }
  ~NewReporter() override {
    strand_.post([this] {
      reporter_.halt();
      calls_.cancel();
    });
    host_.advance(0ns);
  }
  // The peer's answer to the first word.
  void tell(uint64_t epoch_taken) {
    v1::ProgressResponse response;
    response.set_epoch_taken(epoch_taken);
    rpc_.answer(*rpc_.open("Progress"), response.SerializeAsString());
    host_.advance(1s);
  }
  uint64_t epoch_of_status() {
    v1::ReportRequest r;
    auto* call = rpc_.open("Report");
    return call != nullptr && r.ParseFromString(call->request) ? r.statuses(0).epoch() : 0;
  }
  uint64_t epoch_of_progress() {
    v1::ProgressRequest p;
    auto* call = rpc_.open("Progress");
    return call != nullptr && p.ParseFromString(call->request) ? p.epoch() : 0;
  }

  TestHost host_;
  FakeRpc rpc_;
  Strand strand_;
  Calls calls_;
  Reporter reporter_;
};

TEST_F(NewReporter, KeepsStatusesUntilItsEpochStands) {
  EXPECT_EQ(epoch_of_status(), 0u);
  tell(0);
  EXPECT_EQ(epoch_of_status(), 7u);
}

TEST_F(NewReporter, RaisesItsEpochAboveTheOneThatThePeerHasHeardOf) {
  tell(7'000);
  EXPECT_EQ(epoch_of_status(), 7'001u);
  EXPECT_EQ(epoch_of_progress(), 7'001u) << "and says so at once";
}

TEST_F(NewReporter, AsksAgainWhenItsFirstWordIsNotAnswered) {
  rpc_.end(*rpc_.open("Progress"), Code::unavailable, "no");
  host_.advance(5s);
  EXPECT_EQ(epoch_of_status(), 0u);
  tell(7'000);
  EXPECT_EQ(epoch_of_status(), 7'001u);
}

TEST_F(NewReporter, ReportsToAPeerThatTakesNoProgress) {
  rpc_.end(*rpc_.open("Progress"), Code::unimplemented, "no");
  host_.advance(1s);
  EXPECT_EQ(epoch_of_status(), 7u);
}

// a1 runs; a2 of the same region comes, reports with a greater epoch, and ends. What a1 has said
// meanwhile was taken and ignored.
class TwoAgents : public NewReporter {
 protected:
  TwoAgents() {
    tell(0);
    EXPECT_EQ(reported(), "a");
  }
  // The ids of the report under way, which the peer takes; "" when there is none.
  std::string reported() {
    auto* call = rpc_.open("Report");
    v1::ReportRequest r;
    if (call == nullptr || !r.ParseFromString(call->request)) return {};
    std::string out;
    for (const auto& s : r.statuses()) {
      out += s.id();
      epoch_ = s.epoch();
      health_ = s.health();
    }
    rpc_.answer(*call, v1::ReportResponse().SerializeAsString());
    host_.advance(1s);
    return out;
  }
  void offer(const std::string& id, const std::string& health = {}) {
    Status s;
    s.key = {"deployment", "eu", id};
    s.health = health;
    reporter_.offer(std::move(s));
    host_.advance(1s);
  }
  uint64_t epoch_ = 0;
  std::string health_;
};

TEST_F(TwoAgents, WhatWasIgnoredIsSaidAgainWithAGreaterEpoch) {
  EXPECT_EQ(epoch_, 7u);
  host_.advance(31s);
  tell(0);  // so far it was heard
  offer("b");
  EXPECT_EQ(reported(), "b");
  host_.advance(31s);
  tell(200);  // a2 came and went
  EXPECT_EQ(reported(), "ba") << "a2 may have said something else of a, too";
  EXPECT_EQ(epoch_, 201u);
  EXPECT_EQ(epoch_of_progress(), 201u);
  tell(0);
  host_.advance(31s);
  tell(0);
  host_.advance(31s);
  tell(300);
  EXPECT_EQ(reported(), "ba");
  EXPECT_EQ(epoch_, 301u) << "and above again, whenever another comes";
  tell(0);
  EXPECT_EQ(reported(), "") << "once is enough";
}

TEST_F(TwoAgents, WhatIsNewGoesBeforeWhatIsSaidAgain) {
  host_.advance(31s);
  tell(0);
  host_.advance(31s);
  offer("b");
  ASSERT_NE(rpc_.open("Report"), nullptr);
  offer("c");
  tell(200);
  EXPECT_EQ(reported(), "b");
  EXPECT_EQ(reported(), "bca") << "b was under way with the old epoch";
  EXPECT_EQ(epoch_, 201u);
}

// While both work each is told again and again: a region with many records would be said anew all
// the time.
TEST_F(TwoAgents, WhoRisesAgainSoonRepeatsItsConfirmedWordsLater) {
  host_.advance(31s);
  tell(200);
  EXPECT_EQ(reported(), "a");
  tell(0);
  reporter_.advance("eu", {"deployment", {1, 5}});
  host_.advance(1s);
  tell(0);  // a is confirmed
  host_.advance(31s);
  tell(300);
  EXPECT_EQ(reported(), "");
  tell(0);
  host_.advance(31s);
  EXPECT_EQ(reported(), "a");
  EXPECT_EQ(epoch_, 301u);
}

TEST_F(TwoAgents, NothingIsRepeatedWhileNobodyElseIsHeardOf) {
  for (int minutes = 0; minutes < 60; ++minutes) {
    host_.advance(60s);
    if (rpc_.open("Progress") != nullptr) tell(0);
    EXPECT_EQ(reported(), "");
  }
}

TEST_F(TwoAgents, WhatThePeerRefusesIsNotSaidAgain) {
  offer("b");
  auto* call = rpc_.open("Report");
  ASSERT_NE(call, nullptr);
  v1::ReportResponse refused;
  auto* refusal = refused.add_refusals();
  refusal->set_kind("deployment");
  refusal->set_id("b");
  rpc_.answer(*call, refused.SerializeAsString());
  host_.advance(31s);
  tell(200);
  EXPECT_EQ(reported(), "a");
}

TEST_F(TwoAgents, WhoAreBothAtWorkRiseAboveEachOtherLessAndLess) {
  host_.advance(31s);
  uint64_t other = 200;
  int words = 0;
  for (int seconds = 0; seconds < 120; ++seconds) {
    if (rpc_.open("Progress") == nullptr) {
      host_.advance(1s);
      continue;
    }
    tell(other += 2);
    ++words;
  }
  EXPECT_GT(words, 4);
  EXPECT_LT(words, 15) << "it goes on for as long as both work, and so must be seldom";
}

TEST_F(TwoAgents, AnAnswerConfirmsNothingThatWasSentAfterItsQuestion) {
  host_.advance(31s);
  offer("b");
  reported();
  ASSERT_NE(rpc_.open("Progress"), nullptr) << "asked before b was sent";
  tell(0);
  host_.advance(31s);
  tell(200);
  EXPECT_EQ(reported(), "ba") << "b first: what was confirmed is repeated after it";
}

// What is under way has the old epoch, and is later than what waits to be said again.
TEST_F(TwoAgents, WhoRisesWhileItReportsSaysItsLastWordAgain) {
  host_.advance(31s);
  offer("b", "progressing");
  EXPECT_EQ(reported(), "b");
  offer("b", "healthy");
  ASSERT_NE(rpc_.open("Report"), nullptr);
  tell(200);
  EXPECT_EQ(reported(), "b");
  EXPECT_EQ(epoch_, 7u);
  EXPECT_EQ(reported(), "ab") << "a was not confirmed either";
  EXPECT_EQ(epoch_, 201u);
  EXPECT_EQ(health_, "healthy");
}

TEST_F(TwoAgents, NothingIsAboveTheLastNumber) {
  host_.advance(31s);
  tell(UINT64_MAX);
  offer("b");
  EXPECT_EQ(reported(), "b");
  EXPECT_EQ(epoch_, 7u) << "and not 0";
}

}  // namespace
}  // namespace davit::reporter

// The reporter and both senders against a peer that the test plays, on a clock that stands still
// until it is moved.
#include "reporter.hpp"

#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include "../watcher/fake_rpc.hpp"

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;

class ReporterTest : public ::testing::Test {
 protected:
  explicit ReporterTest(size_t capacity = Rules{}.capacity)
      : host_("reporter", {}, TestHost::Time::manual),
        rpc_(host_, "davit.v1"),
        strand_(host_.host().strand()),
        calls_(host_.host(), *rpc::Channel::find(host_, "control"), strand_, 10s),
        reporter_(host_.host(), rules(capacity), strand_, "eu", "agent-1") {
    reporter_.use(davit_v1(calls_));
    strand_.post([this] { reporter_.start(7); });
    host_.advance(0ns);
    rpc_.answer(*rpc_.open("Progress"), "");
  }
  ~ReporterTest() override {
    strand_.post([this] {
      reporter_.halt();
      calls_.cancel();
    });
    host_.advance(0ns);
    EXPECT_TRUE(calls_.idle());
  }
  static Rules rules(size_t capacity) {
    Rules r;
    r.capacity = capacity;
    r.breaker = {3, 30'000ms};
    r.batch_max = 3;
    return r;
  }
  void offer(const std::string& id, const std::string& health = "healthy") {
    Status s;
    s.key = {"deployment", "eu", id};
    s.observed_version = 12;
    s.observed_incarnation = 41;
    s.health = health;
    reporter_.offer(std::move(s));
    host_.advance(0ns);
  }
  // "a=healthy b=progressing" of the report under way; "" when there is none.
  std::string report() {
    auto* call = rpc_.open("Report");
    if (call == nullptr) return {};
    v1::ReportRequest r;
    EXPECT_TRUE(r.ParseFromString(call->request));
    std::string out;
    for (const auto& s : r.statuses()) out += (out.empty() ? "" : " ") + s.id() + "=" + s.health();
    return out;
  }
  size_t reports() const {
    return static_cast<size_t>(
        std::count_if(rpc_.calls.begin(), rpc_.calls.end(),
                      [](const auto& call) { return call->path.ends_with("/Report"); }));
  }
  void take() { rpc_.answer(*rpc_.open("Report"), v1::ReportResponse().SerializeAsString()); }
  void fail(Code code = Code::unavailable) { rpc_.end(*rpc_.open("Report"), code, "no"); }

  TestHost host_;
  FakeRpc rpc_;
  Strand strand_;
  Calls calls_;
  Reporter reporter_;
};

TEST_F(ReporterTest, SendsTheFirstAtOnceAndWhatFollowsTogether) {
  offer("a");
  EXPECT_EQ(report(), "a=healthy");
  take();
  offer("b");
  offer("c", "progressing");
  offer("c");
  EXPECT_EQ(report(), "");
  host_.advance(200ms);
  EXPECT_EQ(report(), "b=healthy c=healthy");
}

TEST_F(ReporterTest, HasOneReportUnderWayAndKeepsTheLatestMeanwhile) {
  offer("a", "progressing");
  offer("a", "unhealthy");
  offer("a", "healthy");
  host_.advance(1s);
  EXPECT_EQ(report(), "a=progressing");
  take();
  host_.advance(1s);
  EXPECT_EQ(report(), "a=healthy");
}

TEST_F(ReporterTest, GivesEachStatusAnEpochAndAGrowingSequence) {
  offer("a");
  offer("b");
  v1::ReportRequest first, second;
  ASSERT_TRUE(first.ParseFromString(rpc_.open("Report")->request));
  take();
  host_.advance(1s);
  ASSERT_TRUE(second.ParseFromString(rpc_.open("Report")->request));
  EXPECT_EQ(first.statuses(0).epoch(), 7u);
  EXPECT_EQ(second.statuses(0).epoch(), 7u);
  EXPECT_LT(first.statuses(0).sequence(), second.statuses(0).sequence());
}

TEST_F(ReporterTest, SaysOfWhichVersionAndHistoryAStatusSpeaks) {
  offer("a");
  v1::ReportRequest sent;
  ASSERT_TRUE(sent.ParseFromString(rpc_.open("Report")->request));
  EXPECT_EQ(sent.statuses(0).observed_version(), 12u);
  EXPECT_EQ(sent.statuses(0).observed_incarnation(), 41u);
}

TEST_F(ReporterTest, LosesNothingWhileThePeerIsAway) {
  offer("a", "progressing");
  fail();
  offer("a", "healthy");
  offer("b");
  host_.advance(1s);
  EXPECT_EQ(report(), "a=healthy b=healthy") << "the newer one of a";
}

TEST_F(ReporterTest, SendsAgainWhatWasAnsweredUnreadably) {
  offer("a");
  offer("b");
  rpc_.answer(*rpc_.open("Report"), "\xff\xff\xff");
  host_.advance(1s);
  EXPECT_EQ(report(), "a=healthy b=healthy");
  EXPECT_EQ(host_.metric("davit_reporter_sent_total"), 0);
  EXPECT_EQ(host_.metric("davit_reporter_failures_total"), 1);
  take();
  EXPECT_EQ(host_.metric("davit_reporter_sent_total"), 2);
}

TEST_F(ReporterTest, PausesWhenThePeerKeepsFailingAndProbesOnce) {
  offer("a");
  for (int i = 0; i < 3; ++i) {
    host_.advance(2s);
    ASSERT_EQ(report(), "a=healthy");
    fail();
  }
  const size_t before = reports();
  host_.advance(29s);
  EXPECT_EQ(reports(), before) << "open: no status goes";
  host_.advance(2s);
  EXPECT_EQ(reports(), before + 1) << "one probe";
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_DEGRADED);
  take();
  host_.advance(1s);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(host_.metric("davit_reporter_sent_total"), 1);
}

// That statuses do not get through is no reason to look dead.
TEST_F(ReporterTest, SaysThatItLivesWhileTheBreakerIsOpen) {
  offer("a");
  for (int i = 0; i < 3; ++i) {
    host_.advance(2s);
    ASSERT_EQ(report(), "a=healthy");
    fail();
  }
  host_.advance(1s);
  rpc_.answer(*rpc_.open("Progress"), "");
  reporter_.advance("eu", {"deployment", {1, 17}});
  host_.advance(1s);
  ASSERT_NE(rpc_.open("Progress"), nullptr);
  rpc_.end(*rpc_.open("Progress"), Code::unavailable, "no");
  host_.advance(1s);
  ASSERT_NE(rpc_.open("Progress"), nullptr) << "by a backoff of its own";
  rpc_.answer(*rpc_.open("Progress"), "");
  EXPECT_EQ(report(), "") << "which says nothing of the statuses";
}

// The control plane learns at once why it hears nothing more.
TEST_F(ReporterTest, SaysThatStatusesAreDelayedUntilNoneWaits) {
  const auto said = [this] {
    auto* call = rpc_.open("Progress");
    if (call == nullptr) return std::string("nothing");
    v1::ProgressRequest request;
    EXPECT_TRUE(request.ParseFromString(call->request));
    rpc_.answer(*call, "");
    std::string out;
    for (const auto& i : request.issues())
      out += i.condition() + " " + i.name() + ": " + i.reason();
    return out;
  };
  offer("a");
  for (int i = 0; i < 3; ++i) {
    host_.advance(2s);
    ASSERT_EQ(report(), "a=healthy");
    fail();
  }
  EXPECT_EQ(host_.metric("davit_reporter_breaker_opened_total"), 1);
  host_.advance(1s);
  EXPECT_EQ(said(),
            "delayed statuses: 1 wait; the breaker is open and has opened 1 times, last for: no");
  host_.advance(30s);
  EXPECT_NE(said(), "") << "it was time to say that the agent lives";
  ASSERT_EQ(report(), "a=healthy");
  take();
  host_.advance(1s);
  EXPECT_EQ(said(), "") << "all has gone";
  host_.advance(10s);
  EXPECT_EQ(said(), "nothing");
}

TEST_F(ReporterTest, DropsWhatThePeerWillNeverTake) {
  offer("a");
  v1::ReportResponse response;
  auto& refusal = *response.add_refusals();
  refusal.set_kind("deployment");
  refusal.set_id("a");
  refusal.set_message("there is no such record");
  rpc_.answer(*rpc_.open("Report"), response.SerializeAsString());
  host_.advance(10min);
  EXPECT_EQ(report(), "");
  EXPECT_TRUE(
      host_.logged("a status was refused kind=deployment id=a reason=there is no such record"));
}

TEST_F(ReporterTest, FindsTheOneStatusThatIsMeantByARefusedBatch) {
  offer("first");
  for (const auto* id : {"a", "b", "c"}) offer(id);
  take();
  host_.advance(200ms);
  ASSERT_EQ(report(), "a=healthy b=healthy c=healthy");
  std::string taken;
  for (int i = 0; i < 20; ++i) {
    if (const std::string r = report(); r.empty()) {
      host_.advance(200ms);
    } else if (r.find("b=") != std::string::npos) {
      fail(Code::invalid_argument);
    } else {
      taken += r + " ";
      take();
    }
  }
  EXPECT_NE(taken.find("a=healthy"), std::string::npos) << taken;
  EXPECT_NE(taken.find("c=healthy"), std::string::npos) << taken;
  EXPECT_EQ(host_.metric("davit_reporter_refused_total"), 1);
}

TEST_F(ReporterTest, GivesEachProgressAGrowingSequence) {
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    Issue issue{"deployment", "a", "shop", "app", 12, "parked", std::to_string(i), 41};
    reporter_.issue("eu", issue);
    host_.advance(1s);
    v1::ProgressRequest said;
    ASSERT_TRUE(said.ParseFromString(rpc_.open("Progress")->request));
    EXPECT_GT(said.sequence(), last);
    last = said.sequence();
    EXPECT_EQ(said.issues(0).incarnation(), 41u);
    rpc_.answer(*rpc_.open("Progress"), "");
  }
}

TEST_F(ReporterTest, SaysWhereItStandsOnChangeAndAtLeastEveryHalfMinute) {
  reporter_.advance("eu", {"deployment", {1, 17}});
  reporter_.issue("eu", {"deployment", "d", "ns", "web", 17, "parked", "why"});
  host_.advance(200ms);
  v1::ProgressRequest p;
  ASSERT_NE(rpc_.open("Progress"), nullptr);
  ASSERT_TRUE(p.ParseFromString(rpc_.open("Progress")->request));
  EXPECT_EQ(p.agent(), "agent-1");
  ASSERT_EQ(p.kinds_size(), 1);
  EXPECT_EQ(p.kinds(0).applied().version(), 17u);
  ASSERT_EQ(p.issues_size(), 1);
  EXPECT_EQ(p.issues(0).condition(), "parked");
  rpc_.answer(*rpc_.open("Progress"), "");
  reporter_.issue("eu", {"deployment", "d", "ns", "web", 17, "", ""});
  host_.advance(200ms);
  ASSERT_TRUE(p.ParseFromString(rpc_.open("Progress")->request));
  EXPECT_EQ(p.issues_size(), 0);
  rpc_.answer(*rpc_.open("Progress"), "");
  host_.advance(29s);
  EXPECT_EQ(rpc_.open("Progress"), nullptr);
  host_.advance(2s);
  EXPECT_NE(rpc_.open("Progress"), nullptr);
}

TEST_F(ReporterTest, SendsWhatWaitsBeforeItStops) {
  offer("a");
  for (const auto* id : {"b", "c", "d", "e"}) offer(id);
  bool flushed = false;
  strand_.post([&] { reporter_.flush([&] { flushed = true; }); });
  host_.advance(0ns);
  std::string all;
  while (!report().empty()) {
    all += report() + " ";
    take();
  }
  EXPECT_EQ(all, "a=healthy b=healthy c=healthy d=healthy e=healthy ");
  EXPECT_TRUE(flushed) << "without the clock having moved";
}

TEST_F(ReporterTest, GivesUpFlushingWhenThePeerFails) {
  offer("a");
  bool flushed = false;
  strand_.post([&] { reporter_.flush([&] { flushed = true; }); });
  host_.advance(0ns);
  fail();
  EXPECT_TRUE(flushed);
}

TEST_F(ReporterTest, AStatusThatNoMessageCouldCarryIsCutAndHoldsUpNobody) {
  Status s;
  s.key = {"deployment", "eu", "big"};
  s.health = "unhealthy";
  s.message = std::string(64 << 20, 'm');
  s.detail = std::string(5 << 20, 'd');
  s.ready = 3;
  reporter_.offer(s);
  host_.advance(0ns);
  v1::ReportRequest sent;
  ASSERT_NE(rpc_.open("Report"), nullptr);
  ASSERT_LT(rpc_.open("Report")->request.size(), size_t{300} << 10);
  ASSERT_TRUE(sent.ParseFromString(rpc_.open("Report")->request));
  EXPECT_EQ(sent.statuses(0).message(), std::string(4096, 'm') + "...");
  EXPECT_EQ(sent.statuses(0).ready(), 3);
  EXPECT_TRUE(host_.logged(
      "a status is too large and was cut; further ones are not logged kind=deployment id=big"));
  take();
  offer("a");
  host_.advance(1s);
  EXPECT_EQ(report(), "a=healthy");
}

TEST_F(ReporterTest, IssuesThatNoMessageCouldCarryAreCounted) {
  for (int i = 0; i < 1000; ++i) {
    reporter_.issue("eu", {"deployment", "d" + std::to_string(i), "ns", "web", 17, "parked",
                           std::string(100'000, 'r')});
  }
  host_.advance(200ms);
  v1::ProgressRequest p;
  ASSERT_NE(rpc_.open("Progress"), nullptr);
  ASSERT_LT(rpc_.open("Progress")->request.size(), size_t{2} << 20);
  ASSERT_TRUE(p.ParseFromString(rpc_.open("Progress")->request));
  const auto& last = p.issues(p.issues_size() - 1);
  EXPECT_EQ(last.condition(), "more");
  EXPECT_EQ(last.reason(), std::to_string(1001 - p.issues_size()) + " more do not fit a message");
}

// --- a buffer that is full

class FullBufferTest : public ReporterTest {
 protected:
  FullBufferTest() : ReporterTest(2) {}
  size_t lines(const std::string& message) const {
    const auto log = host_.log();
    return static_cast<size_t>(std::count_if(
        log.begin(), log.end(), [&](const auto& line) { return line.message == message; }));
  }
  size_t began() const { return lines("the buffer is full and statuses are dropped"); }
  size_t ended() const { return lines("the buffer has room again"); }
  void take_all() {
    host_.advance(2s);
    while (!report().empty()) {
      take();
      host_.advance(2s);
    }
  }
};

TEST_F(FullBufferTest, IsSaidOnceEachTimeThatItBeginsToDrop) {
  for (const auto* id : {"under way", "a", "b"}) offer(id);
  EXPECT_EQ(began(), 0u);
  for (const auto* id : {"c", "d"}) offer(id);
  EXPECT_EQ(began(), 1u);
  EXPECT_EQ(ended(), 0u);
  take_all();
  EXPECT_TRUE(host_.logged("the buffer has room again dropped=2"));
  for (const auto* id : {"under way", "a", "b", "c"}) offer(id);
  EXPECT_EQ(began(), 2u);
  take_all();
  EXPECT_TRUE(host_.logged("the buffer has room again dropped=1"));
  EXPECT_EQ(ended(), 2u);
}

TEST_F(FullBufferTest, IsSaidWhenWhatComesBackIsDropped) {
  for (const auto* id : {"under way", "a", "b"}) offer(id);
  fail();
  EXPECT_EQ(began(), 1u);
  EXPECT_EQ(host_.metric("davit_reporter_dropped_total"), 1);
  take_all();
  EXPECT_TRUE(host_.logged("the buffer has room again dropped=1"));
}

}  // namespace
}  // namespace davit::reporter

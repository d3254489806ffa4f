// Reports over ctrl.v1, of a kind that the test plays.
#include <gtest/gtest.h>

#include "../watcher/fake_rpc.hpp"
#include "plain_codec.hpp"
#include "reporter.hpp"

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;

kind::Description widgets() {
  kind::Description d;
  d.kind = "widget";
  d.apply_type = "x.Widget";
  d.ctrl_v1.emplace();
  d.ctrl_v1->report = "ReportWidget";
  d.ctrl_v1->report_type = "x.ReportWidget";
  return d;
}

struct Widget {
  kind::Described kept{widgets()};
  const kind::Described& described() const { return kept; }
  static Result<Named> identify(std::string_view) { return Named{}; }
  static Result<> validate(std::string_view) { return {}; }
  static kind::Class classify(std::string_view, std::string_view) { return kind::Class::apply; }
  static Result<std::string> reconcile(std::string_view) { return std::string("{}"); }
  static Result<Named> attribute(std::string_view) { return Named{}; }
  static Result<std::string> delete_message(const Named&) { return std::string("{}"); }
  static Result<std::string> to_report(const Named& n, const Status& s) {
    return n.name + "=" + s.health;
  }
  static Result<std::pair<Named, Status>> from_report(std::string_view) {
    return std::pair<Named, Status>{};
  }
};

class Krane : public ::testing::Test {
 protected:
  Krane() : host_("reporter", {}, TestHost::Time::manual), rpc_(host_, "ctrl.v1") {
    host_.add_service(DAVIT_CODEC, plain_codec());
    host_.add_role("widgets", DAVIT_KIND, reinterpret_cast<davit_instance*>(&widget_),
                   kind::Role::vtable<Widget>());
    strand_ = host_.host().strand();
    calls_.emplace(host_.host(), *rpc::Channel::find(host_, "control"), strand_, 10s);
    reporter_.emplace(host_.host(), Rules{}, strand_, "eu", "agent-1");
    auto sender = ctrl_v1(*calls_, kind::Client::all(host_.host()), 8, "aws", Rules{}.retry);
    EXPECT_TRUE(sender.ok());
    reporter_->use(std::move(*sender));
    strand_.post([this] { reporter_->start(7); });
    host_.advance(0ns);
    rpc_.answer(*rpc_.open("Heartbeat"), "");
  }
  ~Krane() override {
    strand_.post([this] {
      reporter_->halt();
      calls_->cancel();
    });
    host_.advance(0ns);
  }
  void offer(const std::string& name, const std::string& health) {
    Status s;
    s.key = {"widget", "eu", "id_" + name};
    s.name = name;
    s.health = health;
    reporter_->offer(std::move(s));
    host_.advance(0ns);
  }
  // Answers what is asked for `time`: UNKNOWN for `poison`. What was taken, in order.
  std::string answer(std::chrono::milliseconds time, const std::string& poison) {
    std::string taken;
    for (auto passed = 0ms; passed <= time; passed += 100ms) {
      while (auto* call = rpc_.open("ReportWidget")) {
        ++asked_[call->request];
        if (!poison.empty() && call->request.starts_with(poison)) {
          rpc_.end(*call, Code::unknown, "the database is away");
        } else {
          taken += call->request + " ";
          rpc_.answer(*call, "");
        }
      }
      host_.advance(100ms);
    }
    return taken;
  }

  TestHost host_;
  FakeRpc rpc_;
  Widget widget_;
  Strand strand_;
  std::optional<Calls> calls_;
  std::optional<Reporter> reporter_;
  std::map<std::string, int> asked_;
};

TEST_F(Krane, WhatIsAnsweredUnknownIsSentAgainUntilItIsTaken) {
  offer("a", "healthy");
  EXPECT_EQ(answer(10min, "a"), "");
  EXPECT_GE(asked_["a=healthy"], 10);
  EXPECT_LE(asked_["a=healthy"], 60) << "by a backoff";
  EXPECT_EQ(host_.metric("davit_reporter_refused_total"), 0);
  EXPECT_EQ(answer(1min, ""), "a=healthy ") << "the database is back";
  EXPECT_EQ(answer(10min, ""), "") << "and once";
}

TEST_F(Krane, WhatIsAnsweredUnknownStopsNobody) {
  offer("poison", "healthy");
  EXPECT_EQ(answer(1min, "poison"), "");
  offer("a", "healthy");
  EXPECT_EQ(answer(1s, "poison"), "a=healthy ");
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(Krane, ANewerStatusDoesNotWaitForTheBackoffOfAnOlderOne) {
  offer("a", "progressing");
  answer(5min, "a");
  offer("a", "healthy");
  EXPECT_EQ(answer(1s, ""), "a=healthy ");
  EXPECT_EQ(answer(5min, ""), "") << "the older one is not said after it";
}

TEST_F(Krane, AHeartbeatGoesOnWhileReportsFail) {
  offer("a", "healthy");
  int heartbeats = 0;
  for (int i = 0; i < 300; ++i) {
    if (auto* call = rpc_.open("ReportWidget")) rpc_.end(*call, Code::unavailable, "no");
    if (auto* call = rpc_.open("Heartbeat")) {
      ++heartbeats;
      rpc_.answer(*call, "");
    }
    host_.advance(1s);
  }
  EXPECT_GE(host_.metric("davit_reporter_breaker_opened_total"), 1);
  EXPECT_GE(heartbeats, 9) << "one each half minute";
}

// It would be said of the record that has the name now.
TEST_F(Krane, HearsNothingOfARecordWithoutAName) {
  offer("", "unknown");
  offer("a", "healthy");
  EXPECT_EQ(answer(1min, ""), "a=healthy ");
}

TEST_F(Krane, IsToldTheIdBesideTheNameWhereAHeaderCanCarryIt) {
  const auto header = [&](const std::string& id) {
    Status s;
    s.key = {"widget", "eu", id};
    s.name = "a";
    reporter_->offer(std::move(s));
    host_.advance(1s);
    auto* call = rpc_.open("ReportWidget");
    const std::string out = call == nullptr ? "" : call->metadata.at(0).second;
    if (call != nullptr) rpc_.answer(*call, "");
    host_.advance(1s);
    return out;
  };
  EXPECT_TRUE(header("w-1").ends_with(";id=w-1"));
  EXPECT_EQ(header("w;gone=1").find("id="), std::string::npos);
}

// Heartbeats have an interval of their own, and the first one makes the region known: one that
// fails is not left to the next interval.
TEST(CtrlV1, AHeartbeatThatFailsIsSaidAgainSoonAndOneThatIsTakenAfterItsInterval) {
  TestHost host("reporter", {}, TestHost::Time::manual);
  FakeRpc rpc(host, "ctrl.v1");
  const Strand strand = host.host().strand();
  Calls calls(host.host(), *rpc::Channel::find(host, "control"), strand, 10s);
  Reporter reporter(host.host(), {}, strand, "eu", "agent-1");
  auto sender = ctrl_v1(calls, {}, 8, rpc::Channel::find(host, "control")->platform());
  ASSERT_TRUE(sender.ok());
  reporter.use(std::move(*sender));
  strand.post([&] { reporter.start(7); });
  host.advance(0ns);
  ASSERT_NE(rpc.open("Heartbeat"), nullptr) << "at once";
  EXPECT_EQ(rpc.open("Heartbeat")->request,
            "\n\x02"
            "eu"
            "\x12\x03"
            "aws")
      << "region, platform";
  rpc.end(*rpc.open("Heartbeat"), Code::unavailable, "not yet");
  host.advance(1s);
  ASSERT_NE(rpc.open("Heartbeat"), nullptr);
  rpc.answer(*rpc.open("Heartbeat"), "");
  reporter.advance("eu", {"deployment", {1, 17}});
  host.advance(29s);
  EXPECT_EQ(rpc.open("Heartbeat"), nullptr);
  host.advance(2s);
  EXPECT_NE(rpc.open("Heartbeat"), nullptr);
  strand.post([&] {
    reporter.halt();
    calls.cancel();
  });
  host.advance(0ns);
}

}  // namespace
}  // namespace davit::reporter

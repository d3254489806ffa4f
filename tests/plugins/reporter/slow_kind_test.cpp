// Reports over ctrl.v1 of a kind that takes long, or that cannot answer now, beside another kind.
#include <gtest/gtest.h>

#include "../watcher/fake_rpc.hpp"
#include "plain_codec.hpp"
#include "reporter.hpp"

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;

struct SlowWidget {
  kind::Described kept;
  std::function<void()> entered = [] {};
  bool busy = false;
  size_t asked = 0;
  explicit SlowWidget(const std::string& kind) : kept(describe(kind)) {}

  static kind::Description describe(const std::string& kind) {
    kind::Description d;
    d.kind = kind;
    d.apply_type = "x." + kind;
    d.ctrl_v1.emplace();
    d.ctrl_v1->report = "Report_" + kind;
    d.ctrl_v1->report_type = "x.Report";
    return d;
  }
  const kind::Described& described() const { return kept; }
  static Result<Named> identify(std::string_view) { return Named{}; }
  static Result<> validate(std::string_view) { return {}; }
  static Result<kind::Class> classify(std::string_view, std::string_view) {
    return kind::Class::apply;
  }
  static Result<std::string> reconcile(std::string_view) { return std::string("{}"); }
  static Result<Named> attribute(std::string_view) { return Named{}; }
  static Result<std::string> delete_message(const Named&) { return std::string("{}"); }
  Result<std::string> to_report(const Named& n, const Status& s) const {
    auto& self = const_cast<SlowWidget&>(*this);
    ++self.asked;
    self.entered();
    if (busy) return Error{Code::unavailable, "is starting"};
    return n.name + "=" + s.health;
  }
  static Result<std::pair<Named, Status>> from_report(std::string_view) {
    return std::pair<Named, Status>{};
  }
};

class SlowKindTest : public ::testing::Test {
 protected:
  SlowKindTest() : host_("reporter", {}, TestHost::Time::manual), rpc_(host_, "ctrl.v1") {
    host_.add_service(DAVIT_CODEC, plain_codec());
    add("slow", slow_);
    add("quick", quick_);
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
  ~SlowKindTest() override { halt(); }
  void halt() {
    strand_.post([this] {
      reporter_->halt();
      calls_->cancel();
    });
    host_.advance(0ns);
  }
  void add(const std::string& name, SlowWidget& kind) {
    host_.add_role(name, DAVIT_KIND, reinterpret_cast<davit_instance*>(&kind),
                   kind::Role::vtable<SlowWidget>());
  }
  void offer(const std::string& kind, const std::string& name, const std::string& health) {
    Status s;
    s.key = {kind, "eu", "id_" + name};
    s.name = name;
    s.health = health;
    reporter_->offer(std::move(s));
  }
  // Takes all reports that have come. What they say, in order.
  std::string take() {
    std::string out;
    for (const char* method : {"Report_slow", "Report_quick"}) {
      while (auto* call = rpc_.open(method)) {
        out += call->request + " ";
        rpc_.answer(*call, "");
      }
    }
    return out;
  }
  std::string taken_within(std::chrono::milliseconds time) {
    std::string out;
    for (auto passed = 0ms; passed <= time; passed += 100ms) {
      host_.advance(100ms);
      out += take();
    }
    return out;
  }

  TestHost host_;
  FakeRpc rpc_;
  SlowWidget slow_{"slow"}, quick_{"quick"};
  Strand strand_;
  std::optional<Calls> calls_;
  std::optional<Reporter> reporter_;
};

TEST_F(SlowKindTest, ThatTakesASecondDelaysNoOtherKind) {
  std::string meanwhile;
  slow_.entered = [&] { meanwhile += taken_within(900ms); };
  for (const char* name : {"a", "b", "c"}) offer("slow", name, "healthy");
  offer("quick", "q", "healthy");
  host_.advance(0ns);
  EXPECT_EQ(meanwhile.substr(0, 10), "q=healthy ");
  const std::string all = meanwhile + taken_within(1min);
  for (const char* report : {"a=healthy ", "b=healthy ", "c=healthy ", "q=healthy "}) {
    const size_t at = all.find(report);
    ASSERT_NE(at, std::string::npos) << all;
    EXPECT_EQ(all.find(report, at + 1), std::string::npos) << "once: " << all;
  }
}

// A kind that takes longer than a batch waits for it.
TEST_F(SlowKindTest, ThatTakesTwentySecondsIsHeardAllTheSame) {
  int slots = 0;
  std::string others, own;
  slow_.entered = [&] {
    ++slots;
    for (int n = 0; n < 10; ++n) {
      offer("quick", "q", std::to_string(slots) + std::to_string(n));
      // It changes while the kind is asked.
      offer("slow", "a", "late" + std::to_string(slots));
      const std::string said = taken_within(1900ms);
      EXPECT_NE(said.find("q="), std::string::npos) << n << ": other kinds go on";
    }
  };
  offer("slow", "a", "first");
  host_.advance(0ns);
  EXPECT_EQ(slots, 1);
  slow_.entered = [] {};
  own = taken_within(1min);
  EXPECT_EQ(own, "a=first a=late1 ") << "in order";
}

TEST_F(SlowKindTest, ThatCannotAnswerForAnHourStopsNobodyAndLosesNothing) {
  slow_.busy = true;
  offer("slow", "a", "healthy");
  for (int n = 0; n < 6; ++n) {
    offer("quick", "q", std::to_string(n));
    EXPECT_EQ(taken_within(10min), "q=" + std::to_string(n) + " ");
  }
  EXPECT_GE(slow_.asked, 100u);
  EXPECT_LE(slow_.asked, 400u) << "with back-off";
  EXPECT_EQ(host_.metric("davit_reporter_refused_total"), 0);
  EXPECT_EQ(host_.health(), DAVIT_HEALTH_SERVING);
  EXPECT_TRUE(host_.logged("statuses wait for their kind"));
  slow_.busy = false;
  EXPECT_EQ(taken_within(1min), "a=healthy ");
}

TEST_F(SlowKindTest, StopWaitsForTheSlotThatIsUnderWay) {
  bool in_slot = false;
  slow_.entered = [&] {
    in_slot = true;
    halt();
    host_.advance(10s);
    EXPECT_FALSE(reporter_->idle());
  };
  offer("slow", "a", "healthy");
  host_.advance(0ns);
  EXPECT_TRUE(in_slot);
  EXPECT_TRUE(reporter_->idle());
  EXPECT_EQ(take(), "") << "no call begins after the stop";
}

}  // namespace
}  // namespace davit::reporter

// A kind whose slots take long: the reports of its records wait, and nobody else.
#include <davit/v1/agent.pb.h>

#include <davit/delays.hpp>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

using namespace std::chrono_literals;
using testing::Widget;

class SlowKindTest : public ::testing::Test {
 protected:
  SlowKindTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) {
    rig_.up_with_gadget();
    rig_.put("w");
    rig_.put("slow");
    rig_.put("g", "running", true, {}, "eu", {}, "gadget");
  }
  ~SlowKindTest() override {
    Widget::entered = nullptr;
    Widget::busy = false;
  }

  // Each slot of the kind widget takes a second. `meanwhile` runs at the end of each.
  void slow(std::function<void()> meanwhile = [] {}) {
    Widget::entered = [this, meanwhile](const std::string& kind, const std::string& slot) {
      if (kind != "widget") return;
      entered_ += slot + " ";
      rig_.host.advance(1s);
      meanwhile();
    };
  }
  davit_rpc_call& report(const std::string& type, const std::string& id, int ready) {
    return rig_.rpc.call("ctrl.v1.ClusterService/Report" + type,
                         testing::fake_message("{\"name\":\"name-" + id +
                                               "\",\"ready\":" + std::to_string(ready) + "}"));
  }
  davit_rpc_call& report_of_ours() {
    v1::ReportRequest r;
    auto* s = r.add_statuses();
    s->set_kind("widget");
    s->set_id("w");
    s->set_region("eu");
    s->set_health("healthy");
    s->set_epoch(1);
    s->set_sequence(1);
    return rig_.rpc.call("davit.v1.AgentService/Report", r.SerializeAsString());
  }
  static bool taken(const davit_rpc_call& call) { return call.end && call.end->code == Code::ok; }
  int64_t ready(const std::string& id) {
    int64_t out = -1;
    EXPECT_TRUE(rig_.storage
                    .statuses({{}, {}, 100},
                              [&](const davit_status& s) {
                                if (view(s.key.id) == id) out = from_abi(s).ready;
                                return true;
                              })
                    .ok());
    return out;
  }

  testing::ServerRig rig_;
  std::string entered_;
};

TEST_F(SlowKindTest, DelaysItsOwnReportsOnly) {
  int looks = 0;
  std::vector<const davit_rpc_call*> others;
  slow([&] {
    if (looks++ > 0) return;
    others = {&report("Gadget", "g", 3), &report_of_ours()};
    rig_.host.run();
    for (const auto* call : others) EXPECT_TRUE(taken(*call)) << "while the slot is under way";
  });
  std::vector<const davit_rpc_call*> own;
  // More than may be under way at once.
  for (int n = 0; n < 150; ++n) own.push_back(&report("Widget", "w", n));
  rig_.host.advance(1min);
  EXPECT_EQ(others.size(), 2u);
  for (const auto* call : own) EXPECT_TRUE(taken(*call));
  EXPECT_EQ(ready("g"), 3);
  EXPECT_EQ(ready("w"), 149) << "the last one counts, whatever became of those before it";
  EXPECT_NE(entered_.find("from_report"), std::string::npos);
  EXPECT_NE(entered_.find("reconcile"), std::string::npos);
}

// Nothing is stored that the kind has not completed: the peer reports again.
TEST_F(SlowKindTest, ThatCannotAnswerNowRefusesItsReportsForNow) {
  Widget::busy = true;
  auto& call = report("Widget", "slow", 1);
  rig_.host.run();
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::unavailable);
  EXPECT_EQ(call.end->message, "kind widget: its process is starting");
  EXPECT_EQ(ready("slow"), -1);
  auto& other = report("Gadget", "g", 2);
  rig_.host.run();
  EXPECT_TRUE(taken(other));
  Widget::busy = false;
  auto& again = report("Widget", "slow", 1);
  rig_.host.run();
  EXPECT_TRUE(taken(again));
  EXPECT_EQ(ready("slow"), 1);
}

TEST_F(SlowKindTest, IsToldOfWithTheRecordWhoseReportsWait) {
  const auto delayed = [this] { return DelaysClient(rig_.store_host.host()).all(); };
  EXPECT_TRUE(delayed().empty());
  Widget::busy = true;
  const int64_t since = rig_.host.host().unix_ms();
  for (int n = 0; n < 2; ++n) {
    report("Widget", "slow", 1);
    report("Widget", "w", 1);
    rig_.host.run();
    rig_.host.advance(30min);
  }
  ASSERT_EQ(delayed().size(), 1u);
  EXPECT_EQ(delayed()[0].key, (Key{"widget", "eu", "slow"}));
  EXPECT_EQ(delayed()[0].stage, Delay::report);
  EXPECT_EQ(delayed()[0].reason, "kind widget: its process is starting");
  EXPECT_EQ(delayed()[0].since_unix_ms, since);
  Widget::busy = false;
  report("Widget", "slow", 1);
  rig_.host.run();
  EXPECT_TRUE(delayed().empty());
}

// Of which record the report is only the kind could tell.
TEST_F(SlowKindTest, ThatCannotReadAReportIsToldOfWithItsRegion) {
  const auto delayed = [this] { return DelaysClient(rig_.store_host.host()).all(); };
  Widget::busy = true;
  auto& call = report("Widget", "unreadable", 1);
  rig_.host.run();
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::unavailable);
  EXPECT_EQ(call.end->message, "kind widget: its process is starting");
  ASSERT_EQ(delayed().size(), 1u);
  EXPECT_EQ(delayed()[0].key, (Key{"widget", "eu", ""}));
  Widget::busy = false;
  report("Widget", "w", 1);
  rig_.host.run();
  EXPECT_TRUE(delayed().empty()) << "it can read reports again";
}

TEST_F(SlowKindTest, IsWaitedForByStop) {
  bool in_slot = false, ended_before = true;
  auto& waits = report("Widget", "w", 1);
  Widget::entered = [&](const std::string&, const std::string&) {
    if (std::exchange(in_slot, true)) return;
    std::atomic<bool> begun{false};
    rig_.begin_stop([&] { return begun.exchange(true); });
    rig_.host.advance(1s);
    ended_before = rig_.has_stopped();
  };
  rig_.host.run();
  EXPECT_TRUE(in_slot);
  EXPECT_FALSE(ended_before);
  EXPECT_TRUE(rig_.stopped().ok());
  EXPECT_TRUE(waits.end) << "it is answered";
}

}  // namespace
}  // namespace davit::recorder

// A kind whose slots take long, or that cannot answer now, beside another kind: documents and
// statuses.
#include <davit/v1/operator.pb.h>

#include <davit/rfc3339.hpp>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

using namespace std::chrono_literals;
using testing::Widget;

class SlowKindTest : public ::testing::Test {
 protected:
  SlowKindTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) {
    rig_.up_with_gadget();
  }
  ~SlowKindTest() override {
    Widget::entered = nullptr;
    Widget::busy = false;
  }

  // Each slot of the kind widget takes so long. `meanwhile` runs at the end of each.
  void slow(
      std::chrono::seconds time, std::function<void()> meanwhile = [] {}) {
    Widget::entered = [this, time, meanwhile](const std::string& kind, const std::string& slot) {
      if (kind != "widget") return;
      entered_ += slot + " ";
      rig_.host.advance(time);
      meanwhile();
    };
  }
  using Document = std::pair<std::string, std::string>;  // kind, id
  davit_rpc_call& apply(const std::vector<Document>& documents) {
    v1::ApplyRequest r;
    for (const auto& [kind, id] : documents) {
      auto* d = r.add_documents();
      d->set_kind(kind);
      d->set_region("eu");
      d->set_id(id);
      d->set_spec_json("{\"id\":\"" + id + "\",\"ns\":\"shop\",\"name\":\"" + kind + id +
                       "\",\"size\":0}");
    }
    return rig_.rpc.call("davit.v1.OperatorService/Apply", r.SerializeAsString());
  }
  // "a:created b:refused"; "": there is no answer yet.
  static std::string outcomes(const davit_rpc_call& call) {
    std::string out;
    v1::ApplyResponse r;
    if (!call.messages.empty()) {
      EXPECT_TRUE(r.ParseFromString(call.messages.front()));
    }
    for (const auto& o : r.outcomes()) out += (out.empty() ? "" : " ") + o.id() + ":" + o.outcome();
    return out;
  }
  // The region is Krane's.
  void heard_of_krane() {
    ASSERT_TRUE(
        rig_.storage.progress({"eu", "one", "ctrl.v1", 1, {}, {}, rig_.host.host().unix_ms()})
            .ok());
  }
  davit_rpc_call& status(const std::string& method) {
    return rig_.rpc.call("davit.v1.OperatorService/" + method,
                         v1::StatusRequest().SerializeAsString());
  }
  // What the messages say of the records, by id: "a: held not sent|".
  static std::string conditions(davit_rpc_call& call) {
    std::string out;
    for (const auto& text : call.messages) {
      v1::StatusResponse r;
      EXPECT_TRUE(r.ParseFromString(text));
      for (const auto& o : r.objects())
        out += o.id() + ": " + o.condition() + " " + o.reason() + "|";
    }
    call.messages.clear();
    return out;
  }

  testing::ServerRig rig_;
  std::string entered_;
  const std::string held_ = "held not sent on ctrl.v1: size: cannot be said|";
};

TEST_F(SlowKindTest, DelaysItsOwnDocumentsOnly) {
  std::string meanwhile;
  davit_rpc_call* other = nullptr;
  slow(1s, [&] {
    if (other != nullptr) return;
    other = &apply({{"gadget", "g"}});
    rig_.host.run();
    meanwhile = outcomes(*other);
  });
  auto& waits = apply({{"widget", "a"}, {"widget", "b"}});
  rig_.host.advance(1min);
  EXPECT_EQ(meanwhile, "g:created");
  EXPECT_EQ(outcomes(waits), "a:created b:created");
  EXPECT_EQ(entered_, "validate identify classify validate identify classify ");
}

TEST_F(SlowKindTest, TheOutcomesOfACallKeepTheirOrder) {
  slow(1s);
  auto& call = apply({{"widget", "a"}, {"gadget", "g"}, {"unknown", "u"}, {"widget", "b"}});
  rig_.host.advance(1min);
  EXPECT_EQ(outcomes(call), "a:created g:created u:refused b:created");
}

TEST_F(SlowKindTest, IsAskedNothingMoreForACallerThatHasGone) {
  davit_rpc_call* call = nullptr;
  slow(1s, [&] {
    if (!call->cancelled) call->cancel();
    rig_.host.run();
  });
  call = &apply({{"widget", "a"}, {"widget", "b"}, {"widget", "c"}});
  rig_.host.advance(1min);
  EXPECT_EQ(entered_, "validate identify classify ");
  EXPECT_EQ(rig_.storage.head()->head.version, Version()) << "and nothing is stored";
}

TEST_F(SlowKindTest, AStatusShowsItDelayedAndDoesNotWaitForIt) {
  apply({{"gadget", "g"}, {"widget", "a"}});
  rig_.host.run();
  heard_of_krane();
  for (const char* method : {"Status", "WatchStatus", "ListStatus"}) {
    std::string meanwhile;
    davit_rpc_call* call = nullptr;
    slow(10s, [&] {
      if (meanwhile.empty()) meanwhile = conditions(*call);
    });
    call = &status(method);
    rig_.host.run();
    EXPECT_EQ(meanwhile.substr(0, 2 + 1 + held_.size()), "g: " + held_) << method;
    EXPECT_TRUE(meanwhile.ends_with("Z: kind widget does not answer|")) << meanwhile;
    EXPECT_NE(meanwhile.find("a: delayed since 2023-11-14T22:13:"), meanwhile.npos) << meanwhile;
    Widget::entered = nullptr;
    if (!call->end) call->cancel();
    rig_.host.run();
  }
}

TEST_F(SlowKindTest, AStatusWaitsForAKindThatTakesASecond) {
  apply({{"gadget", "g"}, {"widget", "a"}});
  rig_.host.run();
  heard_of_krane();
  for (const char* method : {"Status", "WatchStatus", "ListStatus"}) {
    slow(std::chrono::seconds(0));
    auto& call = status(method);
    rig_.host.run();
    EXPECT_EQ(conditions(call), "g: " + held_ + "a: " + held_) << method;
    if (!call.end) call.cancel();
    rig_.host.run();
  }
}

TEST_F(SlowKindTest, AStatusShowsThatItCannotAnswerUntilItCan) {
  apply({{"gadget", "g"}, {"widget", "slow"}});
  rig_.host.run();
  heard_of_krane();
  Widget::busy = true;
  const std::string since = rfc3339(rig_.host.host().unix_ms());
  auto& watch = status("WatchStatus");
  rig_.host.run();
  const std::string delayed =
      "g: " + held_ + "slow: delayed since " + since + ": kind widget: its process is starting|";
  EXPECT_EQ(conditions(watch), delayed);
  rig_.host.advance(1min);
  auto& list = status("ListStatus");
  rig_.host.run();
  EXPECT_EQ(conditions(list), delayed);
  rig_.host.advance(1h);
  Widget::busy = false;
  heard_of_krane();
  rig_.host.advance(1min);
  EXPECT_TRUE(conditions(watch).ends_with("g: " + held_ + "slow: " + held_));
}

TEST_F(SlowKindTest, IsWaitedForByStop) {
  auto& call = apply({{"widget", "a"}, {"widget", "b"}});
  bool in_slot = false, ended_before = true;
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
  EXPECT_TRUE(call.end) << "it is answered";
}

}  // namespace
}  // namespace davit::desired

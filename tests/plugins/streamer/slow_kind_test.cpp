// A kind whose slots take long: its own streams and queries wait for it, in order, and nobody else.
#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

using namespace std::chrono_literals;
using testing::Widget;

class SlowKindTest : public StreamTest {
 protected:
  SlowKindTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) {
    rig_.up_with_gadget();
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
  void put(const std::string& kind, const std::string& id) {
    rig_.put(id, "running", true, {}, "eu", {}, kind);
  }
  davit_rpc_call& watch(const std::string& kind) {
    return rig_.rpc.call(watch_path, watch_request({}, kind));
  }
  davit_rpc_call& get(const std::string& kind, const std::string& id) {
    v1::GetRequest r;
    r.set_kind(kind);
    r.set_id(id);
    return rig_.rpc.call(get_path, r.SerializeAsString());
  }
  // The records in what has come since the last look.
  static std::string records(davit_rpc_call& call) {
    std::string out;
    for (auto& text : call.messages) {
      v1::Frame f;
      EXPECT_TRUE(f.ParseFromString(text));
      for (const auto& r : f.records()) out += (r.has_apply() ? "+" : "-") + r.id() + " ";
    }
    call.messages.clear();
    return out;
  }

  ServerRig rig_;
  std::string entered_;
};

TEST_F(SlowKindTest, DelaysItsOwnTailAndNoOtherKinds) {
  auto &slow_one = watch("widget"), &other = watch("gadget");
  rig_.host.run();
  std::string early, meanwhile;
  slow([&] {
    meanwhile += records(other);
    early += records(slow_one);
  });
  put("widget", "a");
  put("gadget", "g");
  rig_.host.run();
  EXPECT_EQ(entered_, "classify ");
  EXPECT_EQ(meanwhile, "+g ");
  EXPECT_EQ(early, "");
  EXPECT_EQ(records(slow_one), "+a ");
}

TEST_F(SlowKindTest, KeepsTheOrderOfWhatComesMeanwhile) {
  auto& call = watch("widget");
  rig_.host.run();
  int more = 0;
  slow([&] {
    if (++more <= 5) put("widget", "m" + std::to_string(more));
  });
  for (const char* id : {"a", "b", "c"}) put("widget", id);
  rig_.host.advance(1min);
  EXPECT_EQ(records(call), "+a +b +c +m1 +m2 +m3 +m4 +m5 ");
  EXPECT_EQ(entered_.size(), 8 * std::string("classify ").size()) << "each is asked about once";
}

TEST_F(SlowKindTest, SendsASnapshotInPartsAndNoOtherKindWaits) {
  for (const char* id : {"a", "b", "c"}) put("widget", id);
  put("gadget", "g");
  auto &slow_one = watch("widget"), &other = watch("gadget");
  std::string meanwhile, first;
  slow([&] {
    meanwhile += records(other);
    if (first.empty()) first = records(slow_one);
  });
  rig_.host.advance(1min);
  EXPECT_EQ(meanwhile, "+g ");
  EXPECT_EQ(first, "+a ") << "before the kind was asked about all";
  EXPECT_TRUE(show(slow_one).starts_with("+b +c end(3)"));
}

TEST_F(SlowKindTest, DelaysItsOwnPointQueriesOnly) {
  put("widget", "a");
  put("gadget", "g");
  rig_.host.run();
  std::vector<davit_rpc_call*> slow_ones;
  size_t meanwhile = 0, others = 0;
  slow([&] {
    if (others++ > 0) return;
    auto& other = get("gadget", "g");
    rig_.host.run();
    meanwhile += other.end && other.end->code == Code::ok;
  });
  // More than may be under way at once.
  for (int n = 0; n < 20; ++n) slow_ones.push_back(&get("widget", "a"));
  rig_.host.advance(1min);
  EXPECT_EQ(meanwhile, 1u);
  for (const auto* call : slow_ones) EXPECT_TRUE(call->end && call->end->code == Code::ok);
}

TEST_F(SlowKindTest, MakesItsMessagesForKraneInOrder) {
  auto& call = rig_.rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  auto& other = rig_.rpc.call("ctrl.v1.ClusterService/WatchGadgets", "");
  rig_.host.run();
  size_t meanwhile = 0;
  slow([&] { meanwhile = std::max(meanwhile, other.messages.size()); });
  put("widget", "a");
  put("gadget", "g");
  put("widget", "b");
  rig_.host.run();
  rig_.kill("a");
  rig_.host.run();
  EXPECT_NE(entered_.find("apply_message"), std::string::npos);
  EXPECT_NE(entered_.find("delete_message"), std::string::npos);
  EXPECT_EQ(meanwhile, 1u);
  ASSERT_EQ(call.messages.size(), 3u);
  EXPECT_NE(call.messages[0].find("name-a"), std::string::npos);
  EXPECT_NE(call.messages[1].find("name-b"), std::string::npos);
  EXPECT_NE(call.messages[2].find("delete"), std::string::npos);
}

TEST_F(SlowKindTest, ThatCannotAnswerForAnHourStopsNoOtherKind) {
  auto &waits = watch("widget"), &other = watch("gadget");
  rig_.host.run();
  Widget::busy = true;
  put("widget", "slow");
  put("widget", "b");
  for (int n = 0; n < 6; ++n) {
    put("gadget", "g" + std::to_string(n));
    rig_.host.advance(10min);
    EXPECT_EQ(records(other), "+g" + std::to_string(n) + " ");
    EXPECT_EQ(records(waits), "");
  }
  Widget::busy = false;
  rig_.host.advance(1min);
  EXPECT_EQ(records(waits), "+slow +b ");
}

TEST_F(SlowKindTest, IsWaitedForByStop) {
  for (const bool tail : {true, false}) {
    ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE);
    rig.up_with_gadget();
    if (!tail) rig.put("a");
    auto& call = rig.rpc.call(watch_path, watch_request());
    if (tail) rig.host.run();
    bool in_slot = false, ended_before = true;
    Widget::entered = [&](const std::string&, const std::string&) {
      if (std::exchange(in_slot, true)) return;
      rig.begin_stop([&call] { return call.end.has_value(); });
      rig.host.advance(1s);
      ended_before = rig.has_stopped();
    };
    if (tail) rig.put("a");
    rig.host.run();
    EXPECT_TRUE(in_slot) << tail;
    EXPECT_FALSE(ended_before) << tail;
    EXPECT_TRUE(rig.stopped().ok()) << tail;
    Widget::entered = nullptr;
  }
}

}  // namespace
}  // namespace davit::streamer

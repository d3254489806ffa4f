// More changes of one kind than its lane holds while the kind is asked: what does not fit is read
// from the store.
#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

using namespace std::chrono_literals;
using testing::Widget;

class LaneTest : public StreamTest {
 protected:
  LaneTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up_with_gadget(); }
  ~LaneTest() override { Widget::entered = nullptr; }

  // `meanwhile` runs while the kind widget is asked about the first change that comes now, and then
  // the feed reads all that it has put.
  void while_asked(std::function<void()> meanwhile) {
    Widget::entered = [this, meanwhile](const std::string& kind, const std::string& slot) {
      if (kind != "widget" || slot != "classify" || std::exchange(asked_, true)) return;
      meanwhile();
      rig_.host.advance(10s);
    };
  }
  davit_rpc_call& watch(const std::string& kind, const std::string& region = "eu") {
    auto& call = rig_.rpc.call(watch_path, watch_request({}, kind), region);
    rig_.host.run();
    take(call);
    return call;
  }
  // The ids and versions in what has come since the last look; checks that versions ascend.
  struct Taken {
    std::vector<std::string> ids;
    uint64_t bookmark = 0;
  };
  static Taken take(davit_rpc_call& call) {
    Taken out;
    uint64_t last = 0;
    for (auto& text : call.messages) {
      v1::Frame f;
      EXPECT_TRUE(f.ParseFromString(text));
      for (const auto& r : f.records()) {
        EXPECT_GT(r.version(), std::exchange(last, r.version())) << r.id();
        out.ids.push_back(r.id());
      }
      if (f.has_bookmark()) out.bookmark = f.bookmark().at().version();
    }
    call.messages.clear();
    return out;
  }
  double misses() const { return rig_.host.metric("davit_streamer_ring_misses_total"); }

  ServerRig rig_;
  bool asked_ = false;
};

TEST_F(LaneTest, WhatIsTooManyComesFromTheStore) {
  constexpr int many = 4'500;  // a lane holds 4,000
  auto &call = watch("widget"), &other = watch("gadget"), &elsewhere = watch("widget", "us");
  std::vector<std::string> put{"first"}, meanwhile;
  while_asked([&] {
    for (int n = 0; n < many; ++n) {
      put.push_back("w" + std::to_string(n));
      rig_.put(put.back());
    }
    rig_.put("u", "running", true, {}, "us");
    rig_.put("g", "running", true, {}, "eu", {}, "gadget");
    rig_.host.advance(10s);
    meanwhile = take(other).ids;
  });
  const double before = misses();
  rig_.put("first");
  rig_.host.advance(1min);
  const Taken taken = take(call);
  EXPECT_EQ(taken.ids, put) << "each once, in their order";
  EXPECT_EQ(Version(taken.bookmark), rig_.storage.head()->head.version);
  EXPECT_EQ(take(elsewhere).ids, std::vector<std::string>{"u"});
  EXPECT_EQ(meanwhile, std::vector<std::string>{"g"}) << "another kind goes on meanwhile";
  EXPECT_GT(misses(), before);
}

TEST_F(LaneTest, WhatIsTooLargeComesFromTheStore) {
  auto& call = watch("widget");
  std::vector<std::string> put{"first"};
  while_asked([&] {
    for (int n = 0; n < 12; ++n) {  // a lane holds 4 MiB
      put.push_back("w" + std::to_string(n));
      rig_.put(put.back(), "running", true, {{"note", std::string(500'000, 'n')}});
    }
  });
  const double before = misses();
  rig_.put("first");
  rig_.host.advance(1min);
  EXPECT_EQ(take(call).ids, put);
  EXPECT_GT(misses(), before);
}

TEST_F(LaneTest, ThatHasOverflowedServesFromMemoryAgain) {
  auto& call = watch("widget");
  while_asked([&] {
    for (int n = 0; n < 4'500; ++n) rig_.put("w" + std::to_string(n));
  });
  rig_.put("first");
  rig_.host.advance(1min);
  take(call);
  const double before = misses();
  for (const char* id : {"a", "b", "c"}) {
    rig_.put(id);
    rig_.host.advance(2s);
  }
  EXPECT_EQ(take(call).ids, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(misses(), before);
}

// A stream that begins while the lane is full has a snapshot of everything.
TEST_F(LaneTest, ThatOverflowsHoldsNobodyUpWhoComesThen) {
  davit_rpc_call* late = nullptr;
  std::vector<std::string> got;
  while_asked([&] {
    for (int n = 0; n < 4'500; ++n) rig_.put("w" + std::to_string(n));
    rig_.host.advance(10s);
    late = &rig_.rpc.call(watch_path, watch_request());
    rig_.host.advance(10s);
    got = take(*late).ids;
  });
  rig_.put("first");
  rig_.host.advance(1min);
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(got.size(), 4'501u);
  EXPECT_TRUE(take(*late).ids.empty()) << "nothing twice";
}

}  // namespace
}  // namespace davit::streamer

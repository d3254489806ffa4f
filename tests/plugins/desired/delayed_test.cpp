// What a status says while a kind of this server answers "try again": by itself, and beside the
// streamer as it is loaded.
#include "delayed.hpp"

#include <davit/v1/agent.pb.h>
#include <davit/v1/operator.pb.h>
#include <davit/rfc3339.hpp>

#include <set>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

using namespace std::chrono_literals;
using testing::Widget;

Delay delay(const std::string& id, Version version, const std::string& stage = Delay::stream,
            int64_t since = 0) {
  return {{"widget", "eu", id}, stage, version, "kind widget: later", since};
}
std::string why(const Delayed& delayed, const std::string& id, Version version, bool has_it = false,
                bool krane = false) {
  return delayed.why({"widget", "eu", id}, version, has_it, krane).value_or("");
}

TEST(Delayed, IsARecordThatItsKindCannotClassifyAndWhatComesAfterIt) {
  const Delayed delayed({delay("b", 5), delay("c", 7, Delay::stream, 1000)});
  EXPECT_EQ(why(delayed, "a", 4), "") << "it comes before";
  EXPECT_EQ(why(delayed, "b", 5), "since 1970-01-01T00:00:00.000Z: kind widget: later");
  EXPECT_EQ(why(delayed, "c", 7), "since 1970-01-01T00:00:01.000Z: kind widget: later");
  EXPECT_EQ(why(delayed, "d", 9),
            "since 1970-01-01T00:00:00.000Z: kind widget: later (it waits behind b)");
  EXPECT_EQ(why(delayed, "d", 9, true), "") << "its agents have it";
  EXPECT_FALSE(delayed.why({"gadget", "eu", "d"}, 9, false, false)) << "another kind goes on";
  EXPECT_FALSE(delayed.why({"widget", "us", "d"}, 9, false, false)) << "another region goes on";
}

TEST(Delayed, IsWhatOnlyKranesAgentsWaitForIfThereAreNoOthers) {
  const Delayed delayed({delay("b", 5, Delay::ctrl_v1)});
  EXPECT_EQ(why(delayed, "b", 5), "");
  EXPECT_EQ(why(delayed, "b", 5, false, true),
            "since 1970-01-01T00:00:00.000Z: kind widget: later");
}

TEST(Delayed, IsARecordWhoseReportsWaitWhateverItsAgentsHave) {
  const Delayed delayed({delay("b", 5, Delay::report), delay("", 0, Delay::report, 1000)});
  EXPECT_EQ(why(delayed, "b", 5, true),
            "since 1970-01-01T00:00:00.000Z: kind widget: later (its reports wait)");
  EXPECT_EQ(why(delayed, "c", 6, true), "");
  EXPECT_EQ(delayed.why("eu"), "since 1970-01-01T00:00:01.000Z: kind widget: later (reports wait)");
  EXPECT_FALSE(delayed.why("us"));
}

// A server: store, kinds, streamer and this plugin.
class BesideTheStreamer : public ::testing::Test {
 protected:
  BesideTheStreamer()
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE),
        streamer_host_(rig_.store_host, "streamer", {{"storage", "main"}}),
        module_(*testing::Loaded::open(STREAMER_MODULE)),
        streamer_(module_.plugin(), streamer_host_) {
    rig_.expect(rig_.gadget.up());
    rig_.expect(streamer_.up());
    rig_.up();
    const int64_t now = rig_.host.host().unix_ms();
    EXPECT_TRUE(rig_.storage.progress({"eu", "one", "davit", 1, {}, {}, now}).ok());
  }
  ~BesideTheStreamer() override {
    Widget::busy = false;
    rig_.expect(rig_.down());
    std::atomic<bool> stopped{false};
    std::thread stopping([&] {
      rig_.expect(streamer_.stop());
      stopped = true;
    });
    while (!stopped) rig_.host.run();
    stopping.join();
  }

  davit_rpc_call& watch(const std::string& kind) {
    v1::WatchRequest r;
    r.add_subscriptions()->set_kind(kind);
    auto& call = rig_.rpc.call("davit.v1.AgentService/Watch", r.SerializeAsString());
    rig_.host.run();
    return call;
  }
  static std::string records(davit_rpc_call& call) {
    std::string out;
    for (const auto& text : call.messages) {
      v1::Frame f;
      EXPECT_TRUE(f.ParseFromString(text));
      for (const auto& r : f.records()) out += r.id() + " ";
    }
    call.messages.clear();
    return out;
  }
  // "slow: delayed since ...|" of each record with a condition, in the order of their ids.
  std::string conditions(const std::string& method) {
    auto& call = rig_.rpc.call("davit.v1.OperatorService/" + method,
                               v1::StatusRequest().SerializeAsString());
    rig_.host.run();
    std::set<std::string> said;
    for (const auto& text : call.messages) {
      v1::StatusResponse r;
      EXPECT_TRUE(r.ParseFromString(text));
      for (const auto& o : r.objects()) {
        if (!o.condition().empty()) said.insert(o.id() + ": " + o.condition() + " " + o.reason());
      }
    }
    std::string out;
    for (const std::string& one : said) out += one + "|";
    return out;
  }

  testing::ServerRig rig_;
  testing::TestHost streamer_host_;
  testing::Loaded module_;
  testing::Instance streamer_;
};

TEST_F(BesideTheStreamer, AKindThatSaysTryAgainForAnHourIsShownAndTheOthersGoOn) {
  rig_.put("before");
  auto &waits = watch("widget"), &other = watch("gadget");
  records(waits);
  Widget::busy = true;
  rig_.put("slow");
  rig_.put("behind");
  const std::string since = "since " + rfc3339(rig_.host.host().unix_ms());
  rig_.host.run();
  for (int n = 0; n < 6; ++n) {
    const std::string id = "g" + std::to_string(n);
    rig_.put(id, "running", true, {}, "eu", {}, "gadget");
    rig_.host.advance(10min);
    EXPECT_EQ(records(other), id + " ") << "another kind goes on";
    for (const char* method : {"Status", "ListStatus"}) {
      EXPECT_EQ(conditions(method),
                "behind: delayed " + since +
                    ": kind widget: its process is starting (it waits behind slow)|" +
                    "slow: delayed " + since + ": kind widget: its process is starting|")
          << method;
    }
  }
  EXPECT_EQ(records(waits), "");
  Widget::busy = false;
  rig_.host.advance(1min);
  EXPECT_EQ(records(waits), "slow behind ");
  EXPECT_EQ(conditions("Status"), "");
}

}  // namespace
}  // namespace davit::desired

// Settings of the plugin: two values make a difference that an agent or an operator sees.
#include <cmath>

#include <davit/v1/agent.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr int64_t may_2033 = 2'000'000'000'000;

// A server with one record for each report.
class Reported {
 public:
  static constexpr int reports = 6;

  explicit Reported(testing::Config config = {})
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, std::move(config)) {
    rig_.up();
    for (int i = 0; i < reports; ++i) rig_.put("w" + std::to_string(i));
  }

  // A report of a record of its own, of a small size that is the same for each. It arrives when the
  // host is run.
  const davit_rpc_call& send(int record, uint64_t epoch = 1, size_t text_bytes = 0) {
    v1::ReportRequest request;
    auto* s = request.add_statuses();
    s->set_kind("widget");
    s->set_id("w" + std::to_string(record));
    s->set_epoch(epoch);
    s->set_sequence(1);
    s->set_message(std::string(text_bytes, 'm'));
    return rig_.rpc.call("davit.v1.AgentService/Report", request.SerializeAsString());
  }
  // The refusal of a report's status; "" when it is taken.
  std::string refusal(int record, int64_t epoch) {
    const auto& c = send(record, static_cast<uint64_t>(epoch));
    rig_.host.run();
    v1::ReportResponse answer;
    if (c.messages.empty() || !answer.ParseFromString(c.messages[0])) return "no answer";
    return answer.refusals_size() == 0 ? "" : answer.refusals(0).message();
  }
  // How an agent's word with this epoch is answered.
  Code speak(uint64_t epoch) {
    v1::ProgressRequest word;
    word.set_agent("a");
    word.set_epoch(epoch);
    const auto& c = rig_.rpc.call("davit.v1.AgentService/Progress", word.SerializeAsString());
    rig_.host.run();
    return c.end ? c.end->code : Code::unknown;
  }
  bool shows_agent() {
    return !std::isnan(host().metric("davit_recorder_agent_seen_timestamp_seconds",
                                     {{"region", "eu"}, {"agent", "a"}}));
  }
  size_t stored() {
    size_t count = 0;
    EXPECT_TRUE(rig_.storage
                    .statuses({{"widget", "eu"}, {}, 100},
                              [&](const davit_status&) {
                                ++count;
                                return true;
                              })
                    .ok());
    return count;
  }
  testing::TestHost& host() { return rig_.host; }

 private:
  testing::ServerRig rig_;
};

TEST(RecorderSettings, ASilentAgentLeavesTheMetricsAfterAgentStaleAfter) {
  for (const milliseconds stale : {milliseconds(minutes(1)), milliseconds(hours(2))}) {
    Reported server({{"agent_stale_after_ms", int64_t{stale.count()}}});
    EXPECT_EQ(server.speak(1), Code::ok);
    server.host().advance(stale);
    EXPECT_TRUE(server.shows_agent()) << stale.count();
    server.host().advance(stale / 2);
    EXPECT_FALSE(server.shows_agent()) << stale.count();
  }
}

// A small call counts as a little more than half a kilobyte.
TEST(RecorderSettings, ARegionHasAsMuchInProgressAsWorkingBytesSays) {
  struct Row {
    int working_bytes;
    size_t at_once;
  };
  for (const Row& row : {Row{1, 1}, {1'200, 2}, {1'800, 3}}) {
    Reported server({{"working_bytes_per_region_max", row.working_bytes}});
    for (int i = 0; i < Reported::reports; ++i) server.send(i);
    // Another's work for the store, from when all have arrived: what is in progress stands before
    // it. (Of the pools with work the first by name is run, and only once no strand has any.)
    size_t meanwhile = 0;
    const Host host = server.host().host();
    host.blocking("arrived", [&] { host.blocking("main", [&] { meanwhile = server.stored(); }); });
    server.host().run();
    EXPECT_EQ(meanwhile, row.at_once) << row.working_bytes;
    EXPECT_EQ(server.stored(), size_t{Reported::reports}) << "the others follow";
  }
}

TEST(RecorderSettings, WhatWaitsAboveWaitingBytesIsRefused) {
  struct Row {
    int waiting_bytes;
    size_t taken;
  };
  for (const Row& row : {Row{1, 2}, {1'200, 3}, {1'800, 4}}) {
    Reported server({{"waiting_bytes_per_region_max", row.waiting_bytes}});
    std::vector<const davit_rpc_call*> calls;
    calls.push_back(&server.send(0, 1, 100'000));  // in progress alone: the others wait
    for (int i = 1; i < Reported::reports; ++i) calls.push_back(&server.send(i));
    server.host().run();
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(calls[i]->end) << i;
      const Code code = i < row.taken ? Code::ok : Code::resource_exhausted;
      EXPECT_EQ(calls[i]->end->code, code) << row.waiting_bytes << ", call " << i;
    }
    EXPECT_EQ(server.stored(), row.taken) << row.waiting_bytes;
  }
}

TEST(RecorderSettings, AnEpochIsRefusedThatIsFurtherAheadThanEpochAheadSays) {
  for (const int64_t ahead : {int64_t{305'000'000'000}, int64_t{310'000'000'000}}) {
    Reported server({{"epoch_ahead_max_ms", ahead}});
    const int64_t last = server.host().host().unix_ms() + ahead;
    EXPECT_EQ(server.refusal(0, last), "") << ahead;
    EXPECT_EQ(server.refusal(1, last + 1).substr(0, 20), "epoch " + std::to_string(last + 1) + " ")
        << ahead;
    EXPECT_EQ(server.speak(static_cast<uint64_t>(last + 1)), Code::failed_precondition) << ahead;
    EXPECT_EQ(server.speak(static_cast<uint64_t>(last)), Code::ok) << ahead;
    EXPECT_EQ(server.stored(), 1u) << ahead;
  }
}

// The server's clock may not be set yet.
TEST(RecorderSettings, AnEpochUpToMay2033IsTakenWhateverEpochAheadSays) {
  Reported server({{"epoch_ahead_max_ms", 0}});
  ASSERT_LT(server.host().host().unix_ms(), may_2033);
  EXPECT_EQ(server.refusal(0, may_2033), "");
  EXPECT_NE(server.refusal(1, may_2033 + 1), "");
}

TEST(RecorderSettings, AValueOutOfBoundsIsRefusedByItsName) {
  for (const std::string key : {"agent_stale_after_ms", "working_bytes_per_region_max",
                                "waiting_bytes_per_region_max", "epoch_ahead_max_ms"}) {
    const std::string why =
        testing::refusal_of(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, {{key, -1}});
    ASSERT_FALSE(why.empty()) << key;
    EXPECT_NE(why.find(key + ": must be between"), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace davit::recorder

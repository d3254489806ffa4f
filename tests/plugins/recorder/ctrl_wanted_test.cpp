// Reports of Krane's agents, which name what runs and nothing else: what is wanted stands in the
// record, and their order is the server's to keep.
#include <davit/v1/agent.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

class CtrlWantedTest : public ::testing::Test {
 protected:
  explicit CtrlWantedTest(bool up = true)
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) {
    if (up) rig_.up();
  }
  // A record that wants `size`.
  void put(int size, const std::string& state = "running") {
    put_text(std::to_string(size), state);
  }
  void put_text(const std::string& size, const std::string& state = "running") {
    Record r;
    r.key = {"widget", "eu", "a"};
    r.ns = "shop";
    r.name = "web";
    r.state = state;
    r.live = state == "running";
    r.json = R"({"id":"a","ns":"shop","name":"web","size":)" + size + "}";
    r.payload = testing::fake_message(r.json);
    auto results = rig_.storage.commit_now({{{{r, any_version}}, ""}});
    ASSERT_TRUE(results.ok() && !(*results)[0].error);
  }
  Code report(int ready, const std::string& observed = {}) {
    auto& c = rig_.rpc.call(
        "ctrl.v1.ClusterService/ReportWidget",
        testing::fake_message(R"({"name":"web","ready":)" + std::to_string(ready) + "}"), "eu",
        [&](davit_rpc_call& made) {
          if (!observed.empty()) made.headers["x-davit-observed"] = observed;
        });
    rig_.host.run();
    return c.end->code;
  }
  Status stored() {
    Status out;
    EXPECT_TRUE(rig_.storage
                    .statuses({{}, {}, 10},
                              [&](const davit_status& s) {
                                out = davit::from_abi(s);
                                return true;
                              })
                    .ok());
    return out;
  }
  testing::ServerRig rig_;
};

TEST_F(CtrlWantedTest, WantedStandsInTheRecord) {
  put(3);
  EXPECT_EQ(report(2), Code::ok);
  EXPECT_EQ(stored().desired, 3);
  EXPECT_EQ(stored().ready, 2);
  EXPECT_EQ(stored().health, "progressing") << "2 of 3 is not healthy";
  EXPECT_EQ(report(3), Code::ok);
  EXPECT_EQ(stored().health, "healthy");
}

TEST_F(CtrlWantedTest, ANumberOfAKindThatIsNoCountIsPassedOver) {
  int ready = 0;
  for (const char* size : {"1.5", "1e30", "-1e30", "9223372036854775808", "\"3\""}) {
    put_text(size);
    EXPECT_EQ(report(++ready), Code::ok) << size;
    EXPECT_EQ(stored().ready, ready) << size;
    EXPECT_EQ(stored().desired, 0) << size;
    EXPECT_EQ(stored().health, "healthy") << size;
  }
  put_text("9.0");
  EXPECT_EQ(report(1), Code::ok);
  EXPECT_EQ(stored().desired, 9) << "a count, however it is written";
}

TEST_F(CtrlWantedTest, AnAgentOfOursSaysItItself) {
  put(3);
  EXPECT_EQ(report(2, "version=1;desired=2;updated=2;ready=2;stale=0;health=healthy"), Code::ok);
  EXPECT_EQ(stored().desired, 2);
  EXPECT_EQ(stored().health, "healthy");
}

TEST_F(CtrlWantedTest, OfADeadRecordOfWhichNothingIsReportedNothingIsLeft) {
  put(3);
  put(3, "archived");
  EXPECT_EQ(report(1), Code::ok);
  EXPECT_FALSE(stored().gone);
  EXPECT_EQ(stored().desired, 0);
  EXPECT_EQ(report(0), Code::ok);
  EXPECT_TRUE(stored().gone);
}

class ClockSetBackTest : public CtrlWantedTest {
 protected:
  ClockSetBackTest() : CtrlWantedTest(false) {}
};

// The process before this one gave out the times of a clock that was ahead.
TEST_F(ClockSetBackTest, ReportsAreHeardAllTheSame) {
  put(3);
  const auto now = static_cast<uint64_t>(rig_.host.host().unix_ms());
  constexpr uint64_t hour_ms = 3'600'000;
  Status before;
  before.key = {"widget", "eu", "a"};
  before.health = "healthy";
  before.ready = 1;
  before.epoch = Epoch(now + hour_ms);
  before.sequence = (now + hour_ms) * 1000;
  ASSERT_TRUE(rig_.storage.report_now({before}).ok());
  rig_.up();
  EXPECT_EQ(report(2), Code::ok);
  EXPECT_EQ(stored().ready, 2);
  EXPECT_EQ(report(3), Code::ok);
  EXPECT_EQ(stored().ready, 3);
}

// The peer's question is at fault, and not the store.
TEST_F(CtrlWantedTest, ANameInSeveralNamespacesIsNoErrorOfTheStore) {
  put(3);
  Record other;
  other.key = {"widget", "eu", "b"};
  other.ns = "stage";
  other.name = "web";
  other.state = "running";
  other.live = true;
  other.json = R"({"id":"b","ns":"stage","name":"web","size":3})";
  other.payload = testing::fake_message(other.json);
  const auto results = rig_.storage.commit_now({{{{other, any_version}}, ""}});
  ASSERT_TRUE(results.ok() && !(*results)[0].error);
  EXPECT_EQ(report(2), Code::failed_precondition);
  EXPECT_EQ(rig_.host.metric("davit_recorder_storage_errors_total"), 0);
}

TEST_F(CtrlWantedTest, AHeaderThatCannotBeSoIsPassedOver) {
  put(3);
  EXPECT_EQ(report(2, "epoch=18446744073709551615;sequence=1;version=1"), Code::ok);
  EXPECT_EQ(report(3), Code::ok);
  EXPECT_EQ(stored().ready, 3);
}

}  // namespace
}  // namespace davit::recorder

// Watch, WatchStatus and Maintain: real store, fake transport, a clock of the test's own.
#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class WatchTest : public ::testing::Test {
 protected:
  explicit WatchTest(testing::Config config = {})
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, std::move(config)) {
    rig_.up();
  }

  davit_rpc_call& call(const std::string& method, const google::protobuf::Message& request) {
    auto& c = rig_.rpc.call("davit.v1.OperatorService/" + method, request.SerializeAsString(), "");
    rig_.host.run();
    return c;
  }
  davit_rpc_call& watch(const std::string& kind = {}, const std::string& region = {},
                        const std::string& id = {}, bool include_deleted = false) {
    v1::OperatorWatchRequest r;
    r.set_kind(kind);
    r.set_region(region);
    r.set_id(id);
    r.set_include_deleted(include_deleted);
    return call("Watch", r);
  }
  // What came since the last time: "a@1 b@2:deleted current".
  static std::string heard(davit_rpc_call& c) {
    std::string out;
    for (; !c.messages.empty(); c.messages.pop_front()) {
      v1::OperatorWatchResponse m;
      EXPECT_TRUE(m.ParseFromString(c.messages.front()));
      for (const auto& r : m.records()) {
        out += r.document().id() + "@" + std::to_string(r.version()) +
               (r.live() ? "" : ":" + r.document().state()) + " ";
      }
      if (m.current()) out += "current ";
    }
    if (!out.empty()) out.pop_back();
    return out;
  }
  // Longer than the longest interval between two looks.
  void pass() { rig_.host.advance(seconds(2)); }

  testing::ServerRig rig_;
};

TEST_F(WatchTest, NamesWhatIsThereAndThenEachChange) {
  rig_.put("a");
  rig_.put("b");
  auto& c = watch();
  EXPECT_EQ(heard(c), "a@1 b@2 current");
  pass();
  EXPECT_EQ(heard(c), "");
  rig_.put("a");
  pass();
  EXPECT_EQ(heard(c), "a@3");
  rig_.kill("b");
  rig_.put("c", "archived", false);
  pass();
  EXPECT_EQ(heard(c), "b@4:deleted c@5:archived");
  c.cancel();
  rig_.host.run();
  EXPECT_TRUE(c.done);
}

TEST_F(WatchTest, TheDeadAreNamedAtTheBeginningOnlyWhenAskedFor) {
  rig_.put("a");
  rig_.kill("a");
  EXPECT_EQ(heard(watch()), "current");
  EXPECT_EQ(heard(watch({}, {}, {}, true)), "a@2:deleted current");
}

TEST_F(WatchTest, WhatIsArchivedIsNamedAtTheBeginning) {
  rig_.put("a", "archived", false);
  rig_.put("b");
  rig_.kill("b");
  EXPECT_EQ(heard(watch()), "a@1:archived current");
}

TEST_F(WatchTest, APurgeBehindAScanOfManyPagesDoesNotEndIt) {
  for (int n = 0; n < 1'500; ++n) rig_.put("w" + std::to_string(n));
  rig_.kill("w0");
  ASSERT_TRUE(rig_.storage.maintain({true, 1'501, {}}).ok());
  rig_.put("z");
  const std::string all = heard(watch({}, {}, {}, true));
  EXPECT_TRUE(all.ends_with("z@1502 current")) << all.substr(all.size() - 40);
}

TEST_F(WatchTest, HearsOnlyOfWhatItSelected) {
  rig_.put("a");
  rig_.put("b");
  rig_.put("a", "running", true, {}, "us", "name-us");
  auto& by_region = watch("widget", "us");
  auto& by_id = watch("widget", "", "a");
  auto& one = watch("widget", "eu", "b");
  EXPECT_EQ(heard(by_region), "a@3 current");
  EXPECT_EQ(heard(by_id), "a@1 a@3 current");
  EXPECT_EQ(heard(one), "b@2 current");
  rig_.put("a");
  pass();
  EXPECT_EQ(heard(by_region), "");
  EXPECT_EQ(heard(by_id), "a@4");
  EXPECT_EQ(heard(one), "");
}

TEST_F(WatchTest, ACommitOfThisProcessIsHeardOfSoon) {
  auto& c = watch();
  EXPECT_EQ(heard(c), "current");
  const std::chrono::milliseconds soon(100);  // well below the interval between two looks
  pass();
  v1::ApplyRequest apply;
  auto* d = apply.add_documents();
  d->set_kind("widget");
  d->set_region("eu");
  d->set_spec_json(R"({"id":"a","ns":"shop","name":"name-a","size":1})");
  call("Apply", apply);
  rig_.host.advance(soon);
  EXPECT_EQ(heard(c), "a@1");
  v1::DeleteRequest remove;
  auto* k = remove.add_keys();
  k->set_kind("widget");
  k->set_region("eu");
  k->set_id("a");
  call("Delete", remove);
  rig_.host.advance(soon);
  EXPECT_EQ(heard(c), "a@2:deleted");
}

TEST_F(WatchTest, AMistypedKindIsSaidSo) {
  auto& c = watch("wigdet");
  ASSERT_TRUE(c.end);
  EXPECT_EQ(c.end->code, Code::invalid_argument);
  EXPECT_EQ(c.end->message, "kind: \"wigdet\" is not known to this server, which knows widget");
}

TEST_F(WatchTest, APeerThatDoesNotReadCostsOneMessageAndHearsTheNewestLater) {
  rig_.put("a");
  auto& c = rig_.rpc.call("davit.v1.OperatorService/Watch", "", "",
                          [](davit_rpc_call& made) { made.stalled = true; });
  rig_.host.run();
  for (int i = 0; i < 5; ++i) {
    rig_.put("a");
    pass();
  }
  EXPECT_EQ(c.messages.size(), 1u);
  c.resume();
  rig_.host.run();
  EXPECT_EQ(heard(c), "a@1 current a@6");
}

TEST_F(WatchTest, BelowThePurgeMarkItEndsAndSaysSo) {
  rig_.put("a");
  auto& c = rig_.rpc.call("davit.v1.OperatorService/Watch", "", "",
                          [](davit_rpc_call& made) { made.stalled = true; });
  rig_.host.run();
  rig_.kill("a");
  ASSERT_TRUE(rig_.storage.maintain({true, 2}).ok());
  c.resume();
  rig_.host.run();
  ASSERT_TRUE(c.end);
  EXPECT_EQ(c.end->code, Code::out_of_range);
}

TEST_F(WatchTest, EndsWhenTheServerStops) {
  auto& c = watch();
  auto& status = call("WatchStatus", v1::StatusRequest());
  ASSERT_TRUE(rig_.down().ok());
  ASSERT_TRUE(c.end && status.end);
  EXPECT_EQ(c.end->code, Code::unavailable);
  EXPECT_EQ(c.end->message, "the server is shutting down");
  EXPECT_EQ(status.end->code, Code::unavailable);
}

TEST_F(WatchTest, WatchStatusSaysItAgainWhenItChangesAndOnlyThen) {
  rig_.put("a");
  v1::StatusRequest request;
  request.set_kind("widget");
  request.set_region("eu");
  request.set_id("a");
  auto& c = call("WatchStatus", request);
  EXPECT_EQ(c.messages.size(), 1u);
  pass();
  EXPECT_EQ(c.messages.size(), 1u);
  Status s;
  s.key = {"widget", "eu", "a"};
  s.observed_version = 1;
  s.epoch = 1, s.sequence = 1;
  ASSERT_TRUE(rig_.storage.report_now({s}).ok());
  pass();
  ASSERT_EQ(c.messages.size(), 2u);
  v1::StatusResponse seen;
  ASSERT_TRUE(seen.ParseFromString(c.messages[1]));
  EXPECT_EQ(seen.objects(0).observed().observed_version(), 1u);
  // What an agent says moves neither head.
  ASSERT_TRUE(rig_.storage.progress({"eu", "agent", "davit", 1, {}, {}, 5}).ok());
  pass();
  ASSERT_EQ(c.messages.size(), 3u);
  ASSERT_TRUE(seen.ParseFromString(c.messages[2]));
  EXPECT_EQ(seen.agents_size(), 1);
  c.cancel();
  rig_.host.run();
  EXPECT_TRUE(c.done);
}

// --- Maintain

class MaintainTest : public WatchTest {
 protected:
  explicit MaintainTest(int64_t interval_ms = 0)
      : WatchTest({{"purge_interval_ms", interval_ms},
                   {"purge_retention_ms", 3'600'000},
                   {"agent_live_ms", 36'000'000}}) {}

  v1::MaintainResponse maintain(bool dry_run = false, std::optional<uint64_t> retention_ms = {}) {
    v1::MaintainRequest r;
    r.set_dry_run(dry_run);
    if (retention_ms) r.set_retention_ms(*retention_ms);
    auto& c = call("Maintain", r);
    v1::MaintainResponse out;
    EXPECT_EQ(c.messages.size(), 1u) << (c.end ? c.end->message : "no answer");
    EXPECT_TRUE(out.ParseFromString(c.messages.empty() ? "" : c.messages[0]));
    return out;
  }
  Version mark() { return rig_.storage.head()->purged_through; }
  void agent_at(Version version, const std::string& name = "agent", Epoch epoch = 1) {
    const Incarnation incarnation = rig_.storage.head()->head.incarnation;
    ASSERT_TRUE(rig_.storage
                    .progress({"eu",
                               name,
                               "davit",
                               epoch,
                               {{"widget", {incarnation, version}}},
                               {},
                               rig_.host.host().unix_ms()})
                    .ok());
  }
  std::string agents() {
    std::string out;
    auto read = rig_.storage.agents(
        {}, [&](const davit_progress& p) { return out += text(p.agent) + " ", true; });
    EXPECT_TRUE(read.ok());
    return out;
  }
};

TEST_F(MaintainTest, PurgesWhatWasDeletedOrArchivedBeforeTheRetention) {
  rig_.put("a");
  rig_.put("b");
  rig_.kill("a");
  rig_.host.advance(hours(2));
  rig_.put("b", "archived", false);
  const auto answer = maintain();
  EXPECT_EQ(answer.tombstones(), 1u);
  EXPECT_EQ(answer.purged_through(), 3u);
  EXPECT_EQ(mark(), Version(3));
  EXPECT_EQ(answer.held_by(), "retention");
  EXPECT_EQ(answer.held_version(), 4u);
  EXPECT_EQ(answer.resume_token(), "");
  EXPECT_EQ(rig_.host.metric("davit_desired_tombstones_purged_total"), 1);
  EXPECT_EQ(rig_.host.metric("davit_desired_purged_through_version"), 3);
  rig_.host.advance(hours(2));
  EXPECT_EQ(maintain().tombstones(), 1u);
  EXPECT_EQ(mark(), Version(4));
  EXPECT_EQ(maintain().held_by(), "");
}

TEST_F(MaintainTest, ADryRunRemovesNothing) {
  rig_.put("a");
  rig_.kill("a");
  rig_.host.advance(hours(2));
  for (int i = 0; i < 2; ++i) {
    const auto answer = maintain(true);
    EXPECT_EQ(answer.tombstones(), 1u);
    EXPECT_EQ(answer.purged_through(), 2u);
    EXPECT_EQ(mark(), Version());
  }
  EXPECT_EQ(maintain().tombstones(), 1u);
}

TEST_F(MaintainTest, TheRetentionCanBeAnother) {
  rig_.put("a");
  rig_.kill("a");
  EXPECT_EQ(maintain().tombstones(), 0u);
  EXPECT_EQ(maintain(false, 0).tombstones(), 1u);
}

TEST_F(MaintainTest, NeverPassesALiveAgent) {
  rig_.put("a");
  rig_.kill("a");
  rig_.put("b");
  rig_.kill("b");
  agent_at(2);
  const auto held = maintain(false, 0);
  EXPECT_EQ(held.purged_through(), 2u);
  EXPECT_EQ(held.held_by(), "agent");
  EXPECT_EQ(held.region() + "/" + held.agent(), "eu/agent");
  EXPECT_EQ(held.held_version(), 4u);
  agent_at(4);
  EXPECT_EQ(maintain(false, 0).purged_through(), 4u);
}

TEST_F(MaintainTest, AnAgentThatIsSilentForLongHoldsNothing) {
  rig_.put("a");
  rig_.kill("a");
  agent_at(0);
  EXPECT_EQ(maintain(false, 0).held_by(), "agent");
  rig_.host.advance(hours(11));
  EXPECT_EQ(maintain(false, 0).tombstones(), 1u);
}

TEST_F(MaintainTest, AnAgentThatIsLongSilentIsForgottenWhenAnotherIsInItsPlace) {
  agent_at(0, "old");
  rig_.host.advance(hours(30 * 24 + 1));
  EXPECT_EQ(maintain().agents_forgotten(), 0u);
  agent_at(0, "new", 2);
  EXPECT_EQ(maintain(true).agents_forgotten(), 1u);
  EXPECT_EQ(agents(), "new old ");
  EXPECT_EQ(maintain().agents_forgotten(), 1u);
  EXPECT_EQ(agents(), "new ");
  EXPECT_EQ(rig_.host.metric("davit_desired_agents_forgotten_total"), 1);
  rig_.host.advance(hours(1000 * 24));
  EXPECT_EQ(maintain().agents_forgotten(), 0u);
  EXPECT_EQ(agents(), "new ");
}

TEST_F(MaintainTest, ARoundIsBoundedAndTheNextGoesOnWhereItEnded) {
  constexpr int records = 30'000;
  Group group;
  for (int i = 0; i < records; ++i) {
    Record r;
    r.key = {"widget", "eu", "w" + std::to_string(i)};
    r.state = "deleted";
    r.live = false;
    group.mutations.push_back({r, any_version});
    if (group.mutations.size() < rig_.storage.limits()->group_records) continue;
    auto done = rig_.storage.commit_now({group});
    ASSERT_TRUE(done.ok() && !(*done)[0].error) << (*done)[0].error->message;
    group.mutations.clear();
  }
  ASSERT_TRUE(group.mutations.empty());
  // A dry run is told where to go on; the other one knows.
  v1::MaintainRequest request;
  request.set_retention_ms(0);
  for (const bool dry_run : {true, false}) {
    request.set_dry_run(dry_run);
    request.clear_resume_token();
    uint64_t sum = 0;
    int rounds = 0;
    do {
      auto& c = call("Maintain", request);
      v1::MaintainResponse answer;
      ASSERT_TRUE(answer.ParseFromString(c.messages.at(0)));
      EXPECT_LT(answer.tombstones(), static_cast<uint64_t>(records));
      sum += answer.tombstones();
      request.set_resume_token(answer.resume_token());
      ++rounds;
    } while (!request.resume_token().empty());
    EXPECT_EQ(sum, static_cast<uint64_t>(records));
    EXPECT_EQ(rounds, 2);
    EXPECT_EQ(mark(), Version(dry_run ? 0u : static_cast<uint64_t>(records)));
  }
}

TEST_F(MaintainTest, AMistypedTokenOrRetentionIsRefused) {
  v1::MaintainRequest request;
  request.set_resume_token("x");
  EXPECT_EQ(call("Maintain", request).end->message,
            "resume_token: is not a token of an earlier answer");
  request.clear_resume_token();
  request.set_retention_ms(UINT64_MAX);
  EXPECT_EQ(call("Maintain", request).end->code, Code::invalid_argument);
}

class TimedPurge : public MaintainTest {
 protected:
  TimedPurge() : MaintainTest(int64_t{1'800'000}) {}
};

TEST_F(TimedPurge, HappensByItself) {
  rig_.put("a");
  rig_.kill("a");
  rig_.host.advance(std::chrono::minutes(59));
  EXPECT_EQ(mark(), Version());
  rig_.host.advance(hours(1));
  EXPECT_EQ(mark(), Version(2));
}

}  // namespace
}  // namespace davit::desired

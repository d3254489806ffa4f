// The plugin as a whole: real store, fake transport.
#include <cmath>

#include <davit/v1/agent.pb.h>

#include "ctrl_report.hpp"
#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  davit_rpc_call& call(const std::string& path, const std::string& request,
                       const std::string& region = "eu", const std::string& observed = {}) {
    auto& c = rig_.rpc.call(path, request, region, [&](davit_rpc_call& made) {
      made.regions = {"eu"};
      if (!observed.empty()) made.headers["x-davit-observed"] = observed;
    });
    rig_.host.run();
    return c;
  }
  davit_rpc_call& report(const std::vector<v1::Status>& statuses) {
    v1::ReportRequest r;
    for (const auto& s : statuses) *r.add_statuses() = s;
    return call("davit.v1.AgentService/Report", r.SerializeAsString());
  }
  static v1::Status status(const std::string& id, uint64_t sequence, int ready) {
    v1::Status s;
    s.set_kind("widget");
    s.set_id(id);
    s.set_epoch(1);
    s.set_sequence(sequence);
    s.set_ready(ready);
    return s;
  }
  std::vector<Status> stored() {
    std::vector<Status> out;
    auto r = rig_.storage.statuses({{}, {}, 100}, [&](const davit_status& s) {
      out.push_back(davit::from_abi(s));
      return true;
    });
    EXPECT_TRUE(r.ok());
    return out;
  }
  testing::ServerRig rig_;
};

TEST_F(RecorderTest, ReportsAreStoredAndOlderOnesIgnored) {
  rig_.put("a");
  EXPECT_EQ(report({status("a", 5, 2)}).end->code, Code::ok);
  EXPECT_EQ(report({status("a", 4, 9)}).end->code, Code::ok);
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].ready, 2);
}

TEST_F(RecorderTest, WhatCannotBeTakenIsRefusedByKeyWithoutItsNeighbours) {
  rig_.put("a");
  v1::Status elsewhere = status("a", 1, 1);
  elsewhere.set_region("us");
  v1::Status gadget = status("g", 1, 1);
  gadget.set_kind("gadget");
  auto& c = report({elsewhere, gadget, status("nobody", 1, 1), status("a", 1, 3)});
  v1::ReportResponse answer;
  ASSERT_EQ(c.messages.size(), 1u);
  ASSERT_TRUE(answer.ParseFromString(c.messages[0]));
  ASSERT_EQ(answer.refusals_size(), 2);
  EXPECT_EQ(answer.refusals(1).message(), "kind \"gadget\" is not known to this server");
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].ready, 3);
}

TEST_F(RecorderTest, RegionsThatTheTokenDoesNotNameAreRefused) {
  EXPECT_EQ(call("davit.v1.AgentService/Report", "", "us").end->code, Code::permission_denied);
  EXPECT_EQ(call("davit.v1.AgentService/Progress", "", "us").end->code, Code::permission_denied);
  EXPECT_EQ(call("ctrl.v1.ClusterService/Heartbeat", "\x0a\x02us").end->code,
            Code::permission_denied);
}

TEST_F(RecorderTest, ProgressReplacesWhatTheAgentSaidBefore) {
  v1::ProgressRequest p;
  EXPECT_EQ(call("davit.v1.AgentService/Progress", p.SerializeAsString()).end->code,
            Code::invalid_argument);
  p.set_agent("a");
  for (const char* reason : {"first", "second"}) {
    p.clear_issues();
    auto* i = p.add_issues();
    i->set_kind("widget");
    i->set_id("w");
    i->set_condition("parked");
    i->set_reason(reason);
    EXPECT_EQ(call("davit.v1.AgentService/Progress", p.SerializeAsString()).end->code, Code::ok);
  }
  std::vector<Progress> all;
  ASSERT_TRUE(rig_.storage
                  .agents({},
                          [&](const davit_progress& a) {
                            all.push_back(davit::from_abi(a));
                            return true;
                          })
                  .ok());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].region, "eu");
  ASSERT_EQ(all[0].issues.size(), 1u);
  EXPECT_EQ(all[0].issues[0].reason, "second");
}

// The call's message arrives first, and its work waits for the store when the client goes away.
TEST_F(RecorderTest, WhatItsClientHasCancelledIsNotStored) {
  rig_.put("a");
  v1::ReportRequest r;
  *r.add_statuses() = status("a", 1, 1);
  rig_.rpc.call("davit.v1.AgentService/Report", r.SerializeAsString()).cancel();
  rig_.host.run();
  EXPECT_TRUE(stored().empty());
  EXPECT_EQ(report({status("a", 1, 1)}).end->code, Code::ok);
  EXPECT_EQ(stored().size(), 1u);
}

TEST_F(RecorderTest, AnAgentOfThePastIsToldWhatItsEpochMustBeAbove) {
  Progress before;  // said to an earlier process of this store
  before.region = "eu";
  before.agent = "before";
  before.epoch = 50;
  ASSERT_TRUE(rig_.storage.progress(before).ok());
  const auto told = [&](uint64_t epoch) {
    v1::ProgressRequest p;
    p.set_agent("a");
    p.set_epoch(epoch);
    auto& c = call("davit.v1.AgentService/Progress", p.SerializeAsString());
    v1::ProgressResponse answer;
    EXPECT_EQ(c.messages.size(), 1u);
    EXPECT_TRUE(answer.ParseFromString(c.messages.at(0)));
    return answer.epoch_taken();
  };
  EXPECT_EQ(told(20), 50u);
  EXPECT_EQ(told(20), 51u) << "the answer may have been lost, or this is another process of it";
  EXPECT_EQ(told(52), 0u);
  EXPECT_EQ(told(52), 0u);
  EXPECT_EQ(told(20), 52u);
  EXPECT_EQ(told(20), 53u) << "with every word: its successor may have come and gone";
  // The server may end before the agent has heard that: the next one has the store alone.
  uint64_t kept = 0;
  ASSERT_TRUE(rig_.storage
                  .agents({},
                          [&](const davit_progress& a) {
                            if (text(a.agent) == "a") kept = a.epoch;
                            return true;
                          })
                  .ok());
  EXPECT_EQ(kept, 54u);
}

// a1 works; a2 of the same region comes with a later epoch, reports, and ends.
TEST_F(RecorderTest, WhoseSuccessorCameAndWentIsHeardAgain) {
  rig_.put("w");
  const auto speak = [&](const std::string& agent, uint64_t epoch) {
    v1::ProgressRequest p;
    p.set_agent(agent);
    p.set_epoch(epoch);
    v1::ProgressResponse answer;
    EXPECT_TRUE(answer.ParseFromString(
        call("davit.v1.AgentService/Progress", p.SerializeAsString()).messages.at(0)));
    return answer.epoch_taken();
  };
  const auto see = [&](uint64_t epoch, uint64_t sequence, int ready) {
    v1::Status s = status("w", sequence, ready);
    s.set_epoch(epoch);
    EXPECT_EQ(report({s}).end->code, Code::ok);
    return stored().at(0).ready;
  };
  EXPECT_EQ(speak("a1", 100), 0u);
  EXPECT_EQ(see(100, 1, 1), 1);
  EXPECT_EQ(speak("a2", 200), 0u);
  EXPECT_EQ(see(200, 1, 2), 2);
  EXPECT_EQ(see(100, 2, 3), 2) << "ignored: it is taken for one of the past";
  EXPECT_EQ(speak("a1", 100), 200u) << "though it is not its first word";
  EXPECT_EQ(see(201, 3, 3), 3);
  EXPECT_EQ(speak("a1", 201), 0u);
}

// A peer that knows names only means whoever lives under one, or all that did.
TEST_F(RecorderTest, ANameMeansTheLiveRecordOrAllThatDiedUnderIt) {
  const auto ids = [&] {
    std::set<std::string> out;
    const auto found = find_records(rig_.storage, "widget", "eu", {"", "shop", "web"});
    EXPECT_TRUE(found.ok() || found.error().code == Code::not_found) << found.error().message;
    if (found.ok()) {
      for (const Record& r : *found) out.insert(r.key.id);
    }
    return out;
  };
  EXPECT_EQ(ids(), (std::set<std::string>{}));
  rig_.put("a", "running", true, {}, "eu", "web");
  rig_.put("a", "deleted", false, {}, "eu", "web");
  rig_.put("b", "archived", false, {}, "eu", "web");
  EXPECT_EQ(ids(), (std::set<std::string>{"a", "b"}));
  rig_.put("c", "running", true, {}, "eu", "web");
  EXPECT_EQ(ids(), (std::set<std::string>{"c"}));
}

// --- metrics

class AgentMetricsTest : public RecorderTest {
 protected:
  void progress(uint64_t applied, const std::vector<std::string>& conditions = {}) {
    v1::ProgressRequest p;
    p.set_agent("a");
    auto* k = p.add_kinds();
    k->set_kind("widget");
    k->mutable_applied()->set_incarnation(rig_.storage.head()->head.incarnation.value());
    k->mutable_applied()->set_version(applied);
    for (const auto& c : conditions) p.add_issues()->set_condition(c);
    EXPECT_EQ(call("davit.v1.AgentService/Progress", p.SerializeAsString()).end->code, Code::ok);
  }
  double lag() {
    return rig_.host.metric("davit_recorder_agent_lag_records", {{"region", "eu"}, {"agent", "a"}});
  }
  double issues(const std::string& condition) {
    return rig_.host.metric("davit_recorder_issues", {{"region", "eu"}, {"condition", condition}});
  }
  double applied() { return rig_.host.metric("davit_recorder_applied_seconds"); }
};

TEST_F(AgentMetricsTest, LagIsWhatTheAgentsRegionHasAboveItsCursor) {
  for (const char* id : {"a", "b", "c"}) rig_.put(id);
  rig_.put("far", "running", true, {}, "us");
  progress(1);
  EXPECT_EQ(lag(), 2);
  progress(3);
  EXPECT_EQ(lag(), 0);
  progress(9000);  // of a history that this store does not have
  EXPECT_EQ(lag(), 3);
}

TEST_F(AgentMetricsTest, WhatWasAppliedBetweenTwoProgressesIsObservedOnce) {
  for (const char* id : {"a", "b", "c"}) rig_.put(id);
  progress(1);  // where it was before is not known
  EXPECT_EQ(applied(), 0);
  progress(3);
  EXPECT_EQ(applied(), 2);
  progress(3);
  EXPECT_EQ(applied(), 2);
  rig_.put("a");
  rig_.put("far", "running", true, {}, "us");
  progress(5);
  EXPECT_EQ(applied(), 3);
}

TEST_F(AgentMetricsTest, IssuesAreShownByRegionAndCondition) {
  progress(0, {"parked", "held", "parked"});
  EXPECT_EQ(issues("parked"), 2);
  EXPECT_EQ(issues("held"), 1);
  EXPECT_EQ(issues("orphaned"), 0);
  progress(0);
  EXPECT_EQ(issues("parked"), 0);
}

TEST_F(AgentMetricsTest, ASilentAgentIsTakenOutOfTheMetrics) {
  rig_.put("a");
  progress(0, {"parked"});
  EXPECT_EQ(lag(), 1);
  EXPECT_GT(rig_.host.metric("davit_recorder_agent_seen_timestamp_seconds",
                             {{"region", "eu"}, {"agent", "a"}}),
            0);
  rig_.host.advance(std::chrono::minutes(9));
  EXPECT_EQ(lag(), 1);
  rig_.host.advance(std::chrono::minutes(4));
  EXPECT_TRUE(std::isnan(lag()));
  EXPECT_EQ(issues("parked"), 0);
  progress(1);
  EXPECT_EQ(lag(), 0);
}

// --- ctrl.v1

constexpr const char* ctrl_report = "ctrl.v1.ClusterService/ReportWidget";
std::string ctrl(const std::string& name, int ready) {
  return testing::fake_message("{\"name\":\"" + name + "\",\"ready\":" + std::to_string(ready) +
                               "}");
}

TEST_F(RecorderTest, CtrlReportsFindTheirRecordByNameAndEachIsNewerThanTheLast) {
  rig_.put("a");
  EXPECT_EQ(call(ctrl_report, ctrl("name-a", 1)).end->code, Code::ok);
  EXPECT_EQ(call(ctrl_report, ctrl("name-a", 2)).end->code, Code::ok);
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].key.id, "a");
  EXPECT_EQ(stored()[0].ready, 2);
  EXPECT_EQ(stored()[0].observed_version, Version(0));
}

TEST_F(RecorderTest, CtrlReportsOfUnknownNamesAndOtherRegionsAreNotFound) {
  rig_.put("far", "running", true, {}, "us");
  EXPECT_EQ(call(ctrl_report, ctrl("nobody", 1)).end->code, Code::not_found);
  EXPECT_EQ(call(ctrl_report, ctrl("name-far", 1)).end->code, Code::not_found);
  EXPECT_EQ(call(ctrl_report, "garbage").end->code, Code::invalid_argument);
  EXPECT_TRUE(stored().empty());
}

// The epoch of our own agents is the time of their start, in milliseconds.
TEST_F(RecorderTest, AKraneAgentThatFollowsOneOfOursIsHeard) {
  rig_.put("a");
  v1::Status ours = status("a", 900, 1);
  ours.set_epoch(static_cast<uint64_t>(rig_.host.host().unix_ms()) - 5);
  EXPECT_EQ(report({ours}).end->code, Code::ok);
  EXPECT_EQ(call(ctrl_report, ctrl("name-a", 2)).end->code, Code::ok);
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].ready, 2);
}

// A report that comes late: another record has the name by now.
TEST_F(RecorderTest, AReportThatSaysItsIdIsOfThatRecordWhoeverHasTheName) {
  rig_.put("a");
  rig_.kill("a");
  rig_.put("b", "running", true, {}, "eu", "name-a");
  call(ctrl_report, ctrl("name-a", 0), "eu", "version=2;gone=1;id=a");
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].key.id, "a");
  EXPECT_TRUE(stored()[0].gone);
  EXPECT_EQ(call(ctrl_report, ctrl("name-a", 0), "eu", "version=2;gone=1;id=purged").end->code,
            Code::not_found);
  EXPECT_EQ(stored().size(), 1u);
}

TEST_F(RecorderTest, AnIdOfARecordWithAnotherNameDoesNotCount) {
  rig_.put("a");
  rig_.put("b");
  EXPECT_EQ(call(ctrl_report, ctrl("name-a", 1), "eu", "version=1;ready=1;id=b").end->code,
            Code::ok);
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].key.id, "a");
}

TEST_F(RecorderTest, OurOwnHeaderSaysWhatTheWireCannot) {
  rig_.put("a");
  call(ctrl_report, ctrl("name-a", 1), "eu",
       "version=1;desired=3;updated=2;ready=1;stale=4;health=progressing;epoch=7;sequence=8");
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].observed_version, Version(1));
  EXPECT_EQ(stored()[0].desired, 3);
  EXPECT_EQ(stored()[0].stale, 4);
  EXPECT_EQ(stored()[0].health, "progressing");
  EXPECT_EQ(stored()[0].epoch, Epoch(7));
  EXPECT_EQ(stored()[0].sequence, 8u);
}

}  // namespace
}  // namespace davit::recorder

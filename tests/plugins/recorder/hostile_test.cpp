// An agent of region "evil" does its worst; the one of region "eu" goes on as if it were alone.
#include <davit/v1/agent.pb.h>

#include <algorithm>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

constexpr const char* report_path = "davit.v1.AgentService/Report";
constexpr const char* progress_path = "davit.v1.AgentService/Progress";

class HostileTest : public ::testing::Test {
 protected:
  HostileTest()
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
             testing::Config{{"agents_per_region_max", 3},
                             {"issues_per_agent_max", 5},
                             {"issue_bytes_per_agent_max", 2'100},
                             {"statuses_per_transaction_max", 4},
                             {"statuses_per_call_max", 10},
                             {"messages_per_call_max", 20'000},
                             {"text_bytes_max", 100},
                             {"status_bytes_max", 2000}}) {
    rig_.up();
    now_ = static_cast<uint64_t>(rig_.host.host().unix_ms());
  }

  davit_rpc_call& call(const char* path, const google::protobuf::Message& message,
                       const std::string& region) {
    auto& c = rig_.rpc.call(path, message.SerializeAsString(), region);
    rig_.host.run();
    return c;
  }
  // How the server answers; "" for OK.
  std::string say(const v1::ProgressRequest& p, const std::string& region = "evil") {
    const auto& c = call(progress_path, p, region);
    return c.end->code == Code::ok ? "" : c.end->message;
  }
  static v1::ProgressRequest word(const std::string& agent, uint64_t epoch) {
    v1::ProgressRequest p;
    p.set_agent(agent);
    p.set_epoch(epoch);
    return p;
  }
  v1::ProgressRequest& at(v1::ProgressRequest& p, uint64_t version,
                          const std::string& kind = "widget") {
    auto* k = p.add_kinds();
    k->set_kind(kind);
    k->mutable_applied()->set_incarnation(rig_.storage.head()->head.incarnation.value());
    k->mutable_applied()->set_version(version);
    return p;
  }
  // The refusal of the only status; "" when it is taken.
  std::string report(const v1::Status& status, const std::string& region) {
    v1::ReportRequest r;
    *r.add_statuses() = status;
    const auto& c = call(report_path, r, region);
    v1::ReportResponse answer;
    if (c.end->code != Code::ok || !answer.ParseFromString(c.messages.at(0))) return c.end->message;
    return answer.refusals_size() == 0 ? "" : answer.refusals(0).message();
  }
  static v1::Status status(const std::string& id, uint64_t epoch, uint64_t sequence, int ready) {
    v1::Status s;
    s.set_kind("widget");
    s.set_id(id);
    s.set_epoch(epoch);
    s.set_sequence(sequence);
    s.set_ready(ready);
    return s;
  }
  std::vector<Progress> agents(const std::string& region) {
    std::vector<Progress> out;
    EXPECT_TRUE(rig_.storage
                    .agents({},
                            [&](const davit_progress& p) {
                              if (text(p.region) == region) out.push_back(davit::from_abi(p));
                              return true;
                            })
                    .ok());
    return out;
  }
  Status stored(const std::string& id, const std::string& region = "eu") {
    Status out;
    EXPECT_TRUE(rig_.storage
                    .statuses({{"widget", region}, {}, 1000},
                              [&](const davit_status& s) {
                                if (text(s.key.id) == id) out = davit::from_abi(s);
                                return true;
                              })
                    .ok());
    return out;
  }
  // The honest agent of "eu" says where it stands and what it sees, and is heard.
  void honest_goes_on(int turn) {
    const Version version = rig_.put("w");
    v1::ProgressRequest p = word("honest", now_);
    EXPECT_EQ(say(at(p, version.value()), "eu"), "");
    EXPECT_EQ(rig_.host.metric("davit_recorder_agent_lag_records",
                               {{"region", "eu"}, {"agent", "honest"}}),
              0);
    EXPECT_EQ(report(status("w", now_, static_cast<uint64_t>(turn), turn), "eu"), "");
    EXPECT_EQ(stored("w").ready, turn);
    ASSERT_EQ(agents("eu").size(), 1u);
    EXPECT_EQ(agents("eu")[0].kinds[0].applied.version, version);
  }

  testing::ServerRig rig_;
  uint64_t now_ = 0;
};

TEST_F(HostileTest, UnknownAndRepeatedKindsAreRefused) {
  v1::ProgressRequest unknown = word("a", 1), twice = word("a", 1);
  EXPECT_EQ(say(at(unknown, 1, "gadget")), "kind \"gadget\" is not known to this server");
  for (int i = 0; i < 5000; ++i) at(twice, 1);
  EXPECT_EQ(say(twice), "kinds: kind \"widget\" is named twice");
  EXPECT_TRUE(agents("evil").empty());
  honest_goes_on(1);
}

TEST_F(HostileTest, MadeUpAgentsFillNoRegionButTheirOwn) {
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    v1::ProgressRequest p = word("made-up-" + std::to_string(i), now_);
    refused += say(at(p, 1)).empty() ? 0 : 1;
  }
  EXPECT_EQ(refused, 97);
  EXPECT_EQ(agents("evil").size(), 3u);
  EXPECT_EQ(say(word("one-more", now_)),
            "agent: region \"evil\" has 3 agents already (agents_per_region_max): stop one, or "
            "forget one with davit agent forget");
  honest_goes_on(1);
  // Its own newcomer is let in once the made-up ones are silent.
  rig_.host.advance(std::chrono::seconds(91));
  EXPECT_EQ(say(word("newcomer", now_)), "");
  EXPECT_EQ(agents("evil").size(), 3u);
}

TEST_F(HostileTest, IssuesAndTextsAreCutAndTheRestIsCounted) {
  v1::ProgressRequest p = word("a", 1);
  p.set_software(std::string(5000, 's'));
  for (int i = 0; i < 1000; ++i) {
    auto* issue = p.add_issues();
    issue->set_kind("widget");
    issue->set_id("w" + std::to_string(i));
    issue->set_condition("parked");
    issue->set_reason(std::string(5000, 'r'));
  }
  EXPECT_EQ(say(p), "");
  const Progress kept = agents("evil").at(0);
  ASSERT_EQ(kept.issues.size(), 6u);
  EXPECT_EQ(kept.issues[0].reason, std::string(100, 'r') + "...");
  EXPECT_EQ(kept.issues[5].condition, "more");
  EXPECT_EQ(
      kept.issues[5].reason,
      "995 more are not kept (issues_per_agent_max, issue_bytes_per_agent_max of the server)");
  EXPECT_LE(kept.software.size(), 256u);
  p.mutable_issues(0)->set_id(std::string(1000, 'i'));
  EXPECT_EQ(say(p), "issues: has 1000 bytes, and may have 253");
  honest_goes_on(1);
}

TEST_F(HostileTest, AStatusThatIsTooLargeIsCutAndHoldsUpNobody) {
  rig_.put("big");
  v1::Status big = status("big", now_, 1, 7);
  big.set_message(std::string(100'000, 'm'));
  big.set_detail("{\"x\":\"" + std::string(100'000, 'd') + "\"}");
  for (int i = 0; i < 100; ++i) big.add_children()->set_name("pod-" + std::to_string(i));
  EXPECT_EQ(report(big, "eu"), "");
  const Status kept = stored("big");
  EXPECT_EQ(kept.ready, 7);
  EXPECT_EQ(kept.message, std::string(100, 'm') + "...");
  EXPECT_EQ(kept.detail, "");
  EXPECT_GT(kept.children.size(), 10u);
  EXPECT_LT(kept.children.size(), 100u);
  v1::ReportRequest many;
  for (int i = 0; i < 11; ++i) *many.add_statuses() = status("big", now_, 2, 1);
  EXPECT_EQ(call(report_path, many, "eu").end->message, "statuses: more than 10 of them");
}

TEST_F(HostileTest, AnEpochOfTheFarFutureIsRefused) {
  rig_.put("w");
  const std::string refusal =
      "epoch 18446744073709551615 is more than 3650 days ahead of this server's time: set the "
      "clock that is wrong";
  EXPECT_EQ(say(word("a", UINT64_MAX), "eu"), "epoch: " + refusal);
  EXPECT_EQ(report(status("w", UINT64_MAX, 1, 9), "eu"), refusal);
  EXPECT_EQ(report(status("w", now_, UINT64_MAX, 9), "eu"),
            "the sequence is 18446744073709551615, and may be at most 9223372036854775807");
  v1::Status ahead = status("w", now_, 1, 9);
  ahead.set_observed_version(UINT64_MAX);
  EXPECT_EQ(report(ahead, "eu"),
            "the observed_version is 18446744073709551615, and may be at most 9223372036854775807");
  honest_goes_on(1);
}

TEST_F(HostileTest, AnEpochAheadIsToldAndRisenAbove) {
  rig_.put("w");
  const uint64_t ahead = now_ + 1'000'000'000;
  v1::ProgressRequest p = word("honest", now_);
  EXPECT_EQ(say(p, "eu"), "");
  EXPECT_EQ(report(status("w", ahead, 1, 9), "eu"), "") << "by nobody who says its name";
  v1::ProgressResponse told;
  ASSERT_TRUE(told.ParseFromString(call(progress_path, p, "eu").messages.at(0)));
  EXPECT_EQ(told.epoch_taken(), ahead);
  EXPECT_EQ(report(status("w", ahead + 1, 1, 3), "eu"), "");
  EXPECT_EQ(stored("w").ready, 3);
}

// As an older server has left them.
TEST_F(HostileTest, WhatStandsInTheStoreIsHealed) {
  rig_.put("w");
  Status poison;
  poison.key = {"widget", "eu", "w"};
  poison.health = "healthy";
  poison.ready = 9;
  poison.sequence = INT64_MAX;
  poison.epoch = Epoch(poison.sequence);
  ASSERT_TRUE(rig_.storage.report_now({poison}).ok());
  ASSERT_TRUE(rig_.storage.progress({"eu", "made-up", "davit", poison.epoch, {}, {}, 1}).ok());
  v1::ProgressResponse told;
  ASSERT_TRUE(told.ParseFromString(call(progress_path, word("honest", now_), "eu").messages.at(0)));
  EXPECT_EQ(told.epoch_taken(), 0u);
  EXPECT_EQ(report(status("w", now_, 1, 2), "eu"), "");
  EXPECT_EQ(stored("w").ready, 2);
  for (const Progress& p : agents("eu")) EXPECT_LE(p.epoch, Epoch(now_)) << p.agent;
}

// Each is a transaction: many at once would take the store's pool from everybody.
TEST_F(HostileTest, OfTheWordsOfProgressOfARegionOneIsWorkedOnAtATime) {
  for (int i = 0; i < 3; ++i) rig_.put("w" + std::to_string(i));
  for (uint64_t version = 1; version <= 3; ++version) {
    v1::ProgressRequest p = word("a", now_);
    rig_.rpc.call(progress_path, at(p, version).SerializeAsString(), "evil");
  }
  const auto applied = [this] {
    const auto all = agents("evil");
    return all.size() == 1 && !all[0].kinds.empty() ? all[0].kinds[0].applied.version : Version();
  };
  // Another's work for the store, from when all three have arrived: it waits for one of them. (Of
  // the pools with work the first by name is run, and only once no strand has any.)
  Version meanwhile;
  const Host host = rig_.host.host();
  host.blocking("arrived", [&] { host.blocking("main", [&] { meanwhile = applied(); }); });
  rig_.host.run();
  EXPECT_EQ(meanwhile, Version(1));
  EXPECT_EQ(applied(), Version(3));
}

// Two bytes each, and hundreds in memory.
TEST_F(HostileTest, AMessageOfTooManyMessagesIsNotDecoded) {
  std::string hollow;
  for (int i = 0; i < 40'000; ++i) hollow.append("\x0a\x00", 2);
  for (const char* path : {report_path, progress_path}) {
    // The issues of a progress have another number.
    if (path == progress_path) std::replace(hollow.begin(), hollow.end(), '\x0a', '\x2a');
    auto& c = rig_.rpc.call(path, hollow, "evil");
    rig_.host.run();
    EXPECT_EQ(c.end->message,
              "more than 20000 messages in one (messages_per_call_max of the server)");
  }
  honest_goes_on(1);
}

TEST_F(HostileTest, TheIssuesOfAnAgentHaveASizeTogether) {
  v1::ProgressRequest p = word("a", 1);
  for (int i = 0; i < 5; ++i) {
    auto* issue = p.add_issues();
    issue->set_id(std::string(200, 'i'));
    issue->set_name(std::string(200, 'n'));
    issue->set_reason(std::string(100, 'r'));
  }
  EXPECT_EQ(say(p), "");
  const Progress kept = agents("evil").at(0);
  ASSERT_EQ(kept.issues.size(), 5u);
  EXPECT_EQ(kept.issues[4].condition, "more");
}

// More statuses than one transaction takes, the last of them twice: all are stored in their order.
TEST_F(HostileTest, AReportOfSeveralTransactionsIsStoredWholly) {
  v1::ReportRequest many;
  for (int i = 0; i < 9; ++i) {
    const std::string id = "w" + std::to_string(i);
    rig_.put(id);
    *many.add_statuses() = status(id, now_, 1, i);
  }
  *many.add_statuses() = status("w8", now_, 2, 80);
  EXPECT_EQ(call(report_path, many, "eu").end->code, Code::ok);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(stored("w" + std::to_string(i)).ready, i);
  EXPECT_EQ(stored("w8").ready, 80);
}

TEST_F(HostileTest, OneWhoMovesToAndFroShowsNothingOfOthers) {
  for (int i = 0; i < 50; ++i) rig_.put("w" + std::to_string(i));
  for (int turn = 1; turn < 20; ++turn) {
    v1::ProgressRequest p = word("a", now_);
    EXPECT_EQ(say(at(p, turn % 2 == 0 ? 1 : 40)), "");
    honest_goes_on(turn);
  }
}

// Which of them answers would be an accident.
TEST(Recorder, TwoInstancesOfOneKindAreRefused) {
  testing::ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE);
  testing::TestHost other(rig.store_host, "second");
  testing::Instance second(testing::widget_plugin(), other);
  ASSERT_TRUE(second.up().ok());
  const auto r = rig.instance.up();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(
      r.error().message,
      "kind \"widget\" is given by two instances, \"widget\" and \"second\": remove one of them");
}

}  // namespace
}  // namespace davit::recorder

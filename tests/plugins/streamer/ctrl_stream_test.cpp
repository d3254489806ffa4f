// Streams and point queries of ctrl.v1.
#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) +
         bytes;
}
std::string version_field(char v) {
  return std::string("\x18") + v;
}
std::string payload(const std::string& id) {
  return testing::fake_message("{\"id\":\"" + id + "\",\"ns\":\"shop\",\"name\":\"name-" + id +
                               "\"}");
}

TEST_F(StreamTest, CtrlWatchSendsOneStateARecordWithoutHoldsOrBookmarks) {
  auto rig = start();
  rig->put("a");
  rig->put("odd", "sleeping");
  rig->kill("b");
  auto& call = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->host.run();
  ASSERT_EQ(call.messages.size(), 2u);
  EXPECT_EQ(call.messages[0], field(1, payload("a")) + version_field(1));
  EXPECT_EQ(call.messages[1],
            testing::fake_message("{\"delete\":\"name-b\"}", true) + version_field(3));
  call.messages.clear();
  rig->put("c");
  rig->host.run();
  ASSERT_EQ(call.messages.size(), 1u);
  EXPECT_EQ(call.messages[0], field(1, payload("c")) + version_field(4));
}

TEST_F(StreamTest, CtrlWatchSaysNothingOfADeadRecordWhoseNameIsAnothers) {
  auto rig = start();
  rig->kill("a");
  rig->put("b", "running", true, {}, "eu", "name-a");
  auto& call = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->host.run();
  EXPECT_EQ(call.messages.size(), 1u);
}

// Krane's agent leaves a stream open that it does not read any more.
TEST_F(StreamTest, CtrlWatchTakesThePlaceOfAnOlderOneOnItsConnection) {
  auto rig = start();
  auto& older = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->host.run();
  EXPECT_FALSE(older.end);
  auto& newer = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->host.run();
  ASSERT_TRUE(older.end);
  EXPECT_EQ(older.end->code, Code::aborted);
  auto& ours = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  rig->put("a");
  rig->host.run();
  EXPECT_EQ(newer.messages.size(), 1u);
  EXPECT_FALSE(newer.end);
  EXPECT_FALSE(ours.end);
}

TEST_F(StreamTest, CtrlWatchesShareAConnectionWhereTheyAreSaidTo) {
  auto rig = start({{"ctrl_one_on_a_connection", false}});
  auto& one = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  auto& other = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->put("a");
  rig->host.run();
  EXPECT_EQ(one.messages.size() + other.messages.size(), 2u);
}

TEST_F(StreamTest, CtrlWatchGoesOnAfterItsVersion) {
  auto rig = start();
  rig->put("a");
  rig->put("b");
  auto& call = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "\x10\x01");
  rig->host.run();
  ASSERT_EQ(call.messages.size(), 1u);
  EXPECT_EQ(call.messages[0], field(1, payload("b")) + version_field(2));
}

// Krane keeps its cursor whatever it is told: a kind that was quiet for longer than tombstones are
// kept would be cut off for good.
TEST_F(StreamTest, CtrlWatchFromBelowThePurgeMarkGetsEverythingAgain) {
  ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE);
  for (int i = 0; i < 600; ++i) rig.put("w" + std::to_string(i));
  rig.kill("w1");
  const Version mark = rig.storage.head()->head.version;
  ASSERT_TRUE(rig.storage.maintain({true, mark}).ok());
  rig.put("c");
  rig.up();
  // All its pages, of which those behind the first begin below the mark.
  for (const char* request : {"\x10\x02", ""}) {
    auto& anew = rig.rpc.call("ctrl.v1.ClusterService/WatchWidgets", request);
    rig.host.run();
    EXPECT_FALSE(anew.end);
    EXPECT_EQ(anew.messages.size(), 600u);
    anew.cancel();
    rig.host.run();
  }
}

// The store was restored.
TEST_F(StreamTest, CtrlWatchFromAboveTheHeadGetsEverythingAgainAndThenWhatChanges) {
  auto rig = start();
  rig->put("a");
  rig->put("b");
  auto& call = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "\x10\x63");
  rig->host.run();
  EXPECT_FALSE(call.end);
  EXPECT_EQ(call.messages.size(), 2u);
  rig->put("c");
  rig->host.run();
  EXPECT_EQ(call.messages.size(), 3u);
}

// --- agents of Krane's, which stop at what they refuse

class KraneStreamTest : public StreamTest {
 protected:
  static std::string sized(int size) { return testing::fake_message(json_of(size)); }
  static std::string json_of(int size) {
    return R"({"id":"a","ns":"shop","name":"name-a","size":)" + std::to_string(size) + "}";
  }
  // What readers merge into the message before it.
  static std::string added_bounds(int size) {
    return testing::fake_message("{\"bounds\":" + std::to_string(size) + "}");
  }
  static void put(ServerRig& rig, int size) {
    Record r;
    r.key = {"widget", "eu", "a"};
    r.ns = "shop";
    r.name = "name-a";
    r.state = "running";
    r.json = json_of(size);
    r.payload = testing::fake_message(r.json);
    auto results = rig.storage.commit_now({{{{r, any_version}}, ""}});
    ASSERT_TRUE(results.ok());
    rig.host.run();
  }
  static davit_rpc_call& watch(ServerRig& rig, bool ours = false) {
    auto& call =
        rig.rpc.call("ctrl.v1.ClusterService/WatchWidgets", "", "eu", [ours](davit_rpc_call& made) {
          if (ours) made.headers["x-davit-agent"] = "agent-1";
        });
    rig.host.run();
    return call;
  }
};

TEST_F(KraneStreamTest, AreToldInTheFieldsThatTheyKnow) {
  auto rig = start();
  put(*rig, 3);
  for (int from_memory = 0; from_memory < 2; ++from_memory) {
    auto& call = watch(*rig);
    if (from_memory == 1) put(*rig, 4);
    const std::string message = call.messages.back();
    const std::string wanted =
        from_memory == 1 ? sized(4) + added_bounds(4) : sized(3) + added_bounds(3);
    EXPECT_EQ(message.substr(0, field(1, wanted).size()), field(1, wanted));
  }
  auto& get = rig->rpc.call("ctrl.v1.ClusterService/GetWidget", field(1, "a"));
  rig->host.run();
  EXPECT_EQ(get.messages.at(0), field(1, sized(4) + added_bounds(4)));
}

TEST_F(KraneStreamTest, AreNotToldWhatTheyWouldRefuse) {
  auto rig = start();
  put(*rig, 3);
  auto& call = watch(*rig);
  call.messages.clear();
  for (const int refused : {0, -1}) {
    put(*rig, refused);
    ASSERT_EQ(call.messages.size(), 1u) << "the cursor moves on";
    EXPECT_EQ(call.messages[0].size(), 2u) << "a version and nothing else";
    call.messages.clear();
    auto& get = rig->rpc.call("ctrl.v1.ClusterService/GetWidget", field(1, "a"));
    rig->host.run();
    ASSERT_TRUE(get.end);
    EXPECT_EQ(get.end->code, Code::failed_precondition) << "anything but not found";
    EXPECT_TRUE(rig->host.logged("record held"));
  }
  rig->put("b");
  rig->host.run();
  EXPECT_EQ(call.messages.size(), 1u);
}

TEST_F(KraneStreamTest, AreOthersThanOursWhichAreToldRecordsAsTheyAre) {
  auto rig = start();
  auto& call = watch(*rig, true);
  for (const int size : {3, 0, -1}) {
    put(*rig, size);
    ASSERT_EQ(call.messages.size(), 1u);
    EXPECT_TRUE(call.messages[0].starts_with(field(1, sized(size))));
    call.messages.clear();
  }
}

// --- regions

TEST_F(StreamTest, ATokenOfEveryRegionWatchesSoManyAndOneThatNamesItsOwnIsServed) {
  auto rig = start({{"regions_max", 2}});
  const auto watch = [&](const std::string& region, const char* names = "*") -> davit_rpc_call& {
    auto& call = rig->rpc.call(watch_path, watch_request(), region,
                               [names](davit_rpc_call& made) { made.regions = {names}; });
    rig->host.run();
    return call;
  };
  auto& one = watch("one");
  watch("one");
  watch("two");
  auto& three = watch("three");
  ASSERT_TRUE(three.end);
  EXPECT_EQ(three.end->code, Code::resource_exhausted);
  EXPECT_FALSE(watch("eu", "eu").end);
  EXPECT_FALSE(one.end);
  one.cancel();
  rig->host.run();
  EXPECT_TRUE(watch("three").end) << "another one watches the first still";
}

TEST_F(StreamTest, WhatCannotBeTheNameOfARegionIsRefused) {
  auto rig = start();
  for (const std::string& region : {std::string("a b"), std::string(254, 'r')}) {
    auto& call = rig->rpc.call(watch_path, watch_request(), region);
    rig->host.run();
    ASSERT_TRUE(call.end);
    EXPECT_EQ(call.end->code, Code::invalid_argument);
  }
}

TEST_F(StreamTest, CtrlBookmarksAreStatesWithAVersionOnly) {
  auto rig = start({{"ctrl_bookmarks", true}});
  rig->put("a");
  rig->put("odd", "sleeping");
  auto& call = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->host.run();
  ASSERT_EQ(call.messages.size(), 2u);
  EXPECT_EQ(call.messages[1], version_field(2));
}

TEST_F(StreamTest, CtrlStreamThatHasCaughtUpEndsWhenTheSettingSaysSo) {
  auto rig = start({{"close_when_drained", true}});
  rig->put("a");
  auto& call = rig->rpc.call("ctrl.v1.ClusterService/WatchWidgets", "");
  rig->host.run();
  EXPECT_EQ(call.messages.size(), 1u);
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::ok);
}

TEST_F(StreamTest, CtrlPointQueriesAnswerApplyDeleteOrTheirCode) {
  auto rig = start();
  rig->put("a");
  rig->kill("b");
  rig->put("odd", "sleeping");
  rig->put("paused", "running", true, {{"davit.dev/pause", "true"}});
  rig->put("far", "running", true, {}, "us");
  auto ask = [&](const std::string& id) -> davit_rpc_call& {
    auto& call = rig->rpc.call("ctrl.v1.ClusterService/GetWidget", id.empty() ? "" : field(1, id));
    rig->host.run();
    return call;
  };
  EXPECT_EQ(ask("a").messages.at(0), field(1, payload("a")));
  EXPECT_EQ(ask("b").messages.at(0), testing::fake_message("{\"delete\":\"name-b\"}", true));
  EXPECT_EQ(ask("odd").end->code, Code::internal);
  EXPECT_EQ(ask("paused").end->code, Code::failed_precondition);
  EXPECT_EQ(ask("none").end->code, Code::not_found);
  EXPECT_EQ(ask("far").end->code, Code::not_found);
  EXPECT_EQ(ask("").end->code, Code::invalid_argument);
}

// Which of them answers would be an accident.
TEST(Streamer, TwoInstancesOfOneKindAreRefused) {
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
}  // namespace davit::streamer

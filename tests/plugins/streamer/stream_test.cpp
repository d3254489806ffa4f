// Streams of davit.v1, and what both wires share.
#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

TEST_F(StreamTest, ASnapshotThenWhatIsCommitted) {
  auto rig = start();
  rig->put("a");
  rig->put("b");
  rig->kill("b");
  auto& call = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  EXPECT_EQ(show(call), "begin +a -b end(1)") << "no agent has said that b is gone";
  rig->put("c");
  rig->host.run();
  EXPECT_EQ(show(call), "+c mark(4)");
  rig->kill("a");
  rig->host.run();
  EXPECT_EQ(show(call), "-a mark(5)");
}

TEST_F(StreamTest, ASnapshotBeginsWithTheStoresHistory) {
  auto rig = start();
  rig->put("a");
  for (int i = 0; i < 2; ++i) {  // the second shares the begin of the first
    auto& call = rig->rpc.call(watch_path, watch_request());
    rig->host.run();
    v1::Frame begin;
    ASSERT_TRUE(begin.ParseFromString(call.messages.at(0)));
    ASSERT_EQ(begin.bookmark().history_size(), 1);
    EXPECT_EQ(begin.bookmark().history(0).incarnation(), incarnation(*rig).value());
    EXPECT_EQ(begin.bookmark().history(0).version(), 1u);
  }
}

TEST_F(StreamTest, ATailStartsAtItsCursorAndGetsTombstones) {
  auto rig = start();
  rig->put("a");
  rig->put("b");
  rig->kill("a");
  auto& call = rig->rpc.call(watch_path, watch_request({incarnation(*rig), 1}));
  rig->host.run();
  EXPECT_EQ(show(call), "tail +b -a mark(3)");
}

// Who knows the record by its id is to say what is left of it.
TEST_F(StreamTest, ADeadRecordWhoseNameIsAnothersIsSentByItsId) {
  auto rig = start();
  rig->put("a");
  rig->kill("a");
  rig->put("b", "running", true, {}, "eu", "name-a");
  auto& call = rig->rpc.call(watch_path, watch_request({incarnation(*rig), 1}));
  rig->host.run();
  v1::Frame frame;
  ASSERT_TRUE(frame.ParseFromString(call.messages.at(1)));
  EXPECT_EQ(frame.records(0).id(), "a");
  EXPECT_EQ(frame.records(0).name(), "");
  EXPECT_EQ(show(call), "tail -a +b mark(4)");  // a has got 3
}

// What another agent has applied meanwhile was made in one of them.
TEST_F(StreamTest, ATailBeginsWithTheHistorySinceItsCursor) {
  const testing::TemporaryDirectory folder;
  std::vector<Incarnation> incarnations;
  for (int n = 0; n < 4; ++n) {
    ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, {},
                  folder.path() + "/store.db");
    rig.up();
    rig.put("a");
    incarnations.push_back(incarnation(rig));
    if (n < 3) continue;
    auto& call = rig.rpc.call(watch_path, watch_request({incarnations[1], 2}));
    rig.host.run();
    v1::Frame begin;
    ASSERT_TRUE(begin.ParseFromString(call.messages.at(0)));
    ASSERT_EQ(begin.bookmark().type(), v1::Bookmark::TYPE_BEGIN_TAIL);
    ASSERT_EQ(begin.bookmark().history_size(), 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(begin.bookmark().history(i).incarnation(),
                incarnations[static_cast<size_t>(i) + 1].value());
    }
    EXPECT_EQ(begin.bookmark().history(0).version(), 2u) << "where it ended";
  }
}

TEST_F(StreamTest, ACursorOfTheFutureOrOfAnotherHistoryIsOutOfRange) {
  auto rig = start();
  rig->put("a");
  for (Cursor bad :
       {Cursor{incarnation(*rig), 9}, Cursor{Incarnation(incarnation(*rig).value() + 1), 1}}) {
    auto& call = rig->rpc.call(watch_path, watch_request(bad));
    rig->host.run();
    ASSERT_TRUE(call.end) << show(call);
    EXPECT_EQ(call.end->code, Code::out_of_range) << call.end->message;
  }
}

TEST_F(StreamTest, AKindThatFailsIsNamedAndTheOthersGoOn) {
  auto rig = start();
  rig->put("a");
  v1::WatchRequest request;
  request.add_subscriptions()->set_kind("gadget");
  request.add_subscriptions()->set_kind("widget");
  auto& call = rig->rpc.call(watch_path, request.SerializeAsString());
  rig->host.run();
  v1::Frame first;
  ASSERT_TRUE(first.ParseFromString(call.messages.at(0)));
  EXPECT_EQ(first.end().message(), "kind \"gadget\" is not known to this server");
  EXPECT_EQ(show(call), "gadget!3 begin +a end(1)");
  rig->put("b");
  rig->host.run();
  EXPECT_EQ(show(call), "+b mark(2)");
  EXPECT_FALSE(call.end);
}

TEST_F(StreamTest, AStreamEndsWithItsLastKind) {
  auto rig = start();
  rig->put("a");
  v1::WatchRequest request;
  request.add_subscriptions()->set_kind("gadget");
  auto& of_widget = *request.add_subscriptions();
  of_widget.set_kind("widget");
  of_widget.mutable_cursor()->set_incarnation(incarnation(*rig).value());
  of_widget.mutable_cursor()->set_version(9);
  auto& call = rig->rpc.call(watch_path, request.SerializeAsString());
  rig->host.run();
  EXPECT_EQ(show(call), "gadget!3 widget!11");
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::out_of_range);
}

TEST_F(StreamTest, ARecordSaysItsStateAndAnnotationsWhenTheySaySomething) {
  auto rig = start();
  rig->put("plain");
  rig->put("noted", "running", true, {{"b", "2"}, {"a", "1"}});
  rig->put("archived", "archived");
  rig->kill("plain");
  auto& call = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  rig->put("again", "running");
  rig->host.run();
  std::map<std::string, v1::Record> records;
  for (const auto& text : call.messages) {
    v1::Frame f;
    ASSERT_TRUE(f.ParseFromString(text));
    EXPECT_EQ(f.region(), "") << "that of the call";
    for (const auto& r : f.records()) records[r.id()] = r;
  }
  EXPECT_EQ(records["archived"].state(), "archived");
  EXPECT_EQ(records["noted"].annotations().size(), 2u);
  EXPECT_EQ(records["noted"].annotations().at("b"), "2");
  for (const char* id : {"plain", "noted", "again"})
    EXPECT_EQ(records[id].state(), "") << id << ": the default, or deleted";
  for (const char* id : {"plain", "archived", "again"})
    EXPECT_EQ(records[id].annotations().size(), 0u) << id;
}

TEST_F(StreamTest, WhatCannotBeSentIsHeldAndCounted) {
  auto rig = start();
  rig->put("odd", "sleeping");
  rig->put("paused", "running", true, {{"davit.dev/pause", "true"}});
  rig->put("archived", "archived");
  auto& call = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  EXPECT_EQ(show(call), "begin =odd =paused -archived end(2)");
  EXPECT_TRUE(rig->host.logged("record held record=widget/eu/odd"));
  EXPECT_FALSE(rig->host.logged("record=widget/eu/paused"));
  auto& again = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  show(again);
  size_t lines = 0;
  for (const auto& line : rig->host.log()) lines += line.message == "record held";
  EXPECT_EQ(lines, 1u);
}

// What a peer holds at the end of a snapshot, and what the snapshot said it should hold.
struct Held {
  std::set<std::string> live;
  uint64_t counted = 0;
  explicit Held(const davit_rpc_call& call) {
    for (auto& text : call.messages) {
      v1::Frame f;
      EXPECT_TRUE(f.ParseFromString(text));
      for (const auto& r : f.records()) {
        if (r.has_delete_()) live.erase(r.id());
        if (!r.has_delete_()) live.insert(r.id());
      }
      if (f.bookmark().type() == v1::Bookmark::TYPE_SNAPSHOT_END)
        counted = f.bookmark().live_count();
    }
  }
};

TEST_F(StreamTest, ARecordThatChangesWhileTheSnapshotIsReadIsSentAgainAndCountedOnce) {
  auto rig = start();
  for (int i = 0; i < 300; ++i) rig->put("w" + std::to_string(i));
  auto& call =
      rig->rpc.call(watch_path, watch_request(), "eu", [](davit_rpc_call& c) { c.stalled = true; });
  rig->host.run();  // the first page is read and its first message is being written
  rig->put("w0");
  rig->kill("w1");
  rig->put("new");
  call.resume();
  rig->host.run();
  const Held held(call);
  EXPECT_EQ(held.counted, 300u);
  EXPECT_EQ(held.live.size(), 300u);
  EXPECT_EQ(held.live.count("w1"), 0u);
}

TEST_F(StreamTest, ASnapshotThatSharesThePagesOfAnEarlierOneIsCompleteAllTheSame) {
  auto rig = start();
  for (int i = 0; i < 600; ++i) rig->put("w" + std::to_string(i));
  rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  rig->put("w0");
  rig->kill("w1");
  rig->put("new");
  rig->kill("w2");
  rig->put("w2");
  rig->host.run();
  auto& late = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  const Held held(late);
  EXPECT_EQ(held.counted, 600u);
  EXPECT_EQ(held.live.size(), 600u);
  EXPECT_EQ(held.live.count("w1"), 0u);
  EXPECT_EQ(held.live.count("w2"), 1u);
}

TEST_F(StreamTest, APeerThatDoesNotReadHoldsOneMessageAndCatchesUpLater) {
  auto rig = start({{"ring_bytes_max", 65536}});
  rig->put("a");
  auto& slow = rig->rpc.call(watch_path, watch_request());
  auto& fast = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  show(slow);
  show(fast);
  slow.stalled = true;
  for (int i = 0; i < 1000; ++i) {
    rig->put("b");
    rig->host.run();
  }
  EXPECT_EQ(slow.messages.size(), 1u);
  show(slow);
  EXPECT_EQ(show(fast).substr(0, 11), "+b mark(2) ");
  slow.resume();
  rig->host.run();
  // It fell out of the ring: the store names the record once, at its last version.
  EXPECT_EQ(show(slow), "+b mark(1001)");
}

TEST_F(StreamTest, OtherRegionsAndKindsMoveTheCursorAtTheInterval) {
  auto rig = start({{"bookmark_interval_ms", 5000}});
  rig->put("a");
  auto& call = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  show(call);
  rig->put("x", "running", true, {}, "us");
  rig->host.advance(std::chrono::seconds(4));
  EXPECT_EQ(show(call), "");
  rig->host.advance(std::chrono::seconds(2));
  EXPECT_EQ(show(call), "mark(2)");
  rig->host.advance(std::chrono::seconds(9));
  EXPECT_EQ(show(call), "");
  rig->host.advance(std::chrono::seconds(11));
  EXPECT_EQ(show(call), "mark(2)") << "it still stands there";
}

TEST_F(StreamTest, BadRequestsAndRegionsAreRefused) {
  auto rig = start();
  auto code = [&](const std::string& request, const std::string& region,
                  std::vector<std::string> regions) {
    auto& call =
        rig->rpc.call(watch_path, request, region, [&](davit_rpc_call& c) { c.regions = regions; });
    rig->host.run();
    return call.end ? call.end->code : Code::ok;
  };
  EXPECT_EQ(code(watch_request(), "us", {"eu"}), Code::permission_denied);
  EXPECT_EQ(code(watch_request(), "", {"*"}), Code::invalid_argument);
  EXPECT_EQ(code(watch_request({}, "gadget"), "eu", {"eu"}), Code::invalid_argument);
  EXPECT_EQ(code("\x0a\xff", "eu", {"eu"}), Code::invalid_argument);
  EXPECT_EQ(code(watch_request(), "eu", {"eu"}), Code::ok);
}

TEST_F(StreamTest, ShutdownSaysWhenToComeBack) {
  auto rig = start({{"retry_after_ms", 1000}});
  auto& call = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  ASSERT_FALSE(call.end);
  ASSERT_TRUE(rig->down().ok());
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::unavailable);
  ASSERT_EQ(call.end->trailers.size(), 1u);
  EXPECT_EQ(call.end->trailers[0].first, "retry-after-ms");
  const int ms = std::stoi(call.end->trailers[0].second);
  EXPECT_GE(ms, 500);
  EXPECT_LE(ms, 1000);
}

TEST_F(StreamTest, AStreamWhosePeerHasGoneEndsAndIsForgotten) {
  auto rig = start();
  auto& call = rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  EXPECT_EQ(rig->host.metric("davit_streamer_streams"), 1);
  call.cancel();
  rig->host.run();
  EXPECT_TRUE(call.done);
  EXPECT_EQ(rig->host.metric("davit_streamer_streams"), 0);
  rig->put("a");
  rig->host.run();
}

TEST_F(StreamTest, ThousandStreamsShareOneTailer) {
  auto rig = start();
  for (int i = 0; i < 1000; ++i) rig->rpc.call(watch_path, watch_request());
  rig->host.run();
  const double before = rig->host.metric("davit_streamer_ring_hits_total");
  rig->put("a");
  rig->host.run();
  EXPECT_EQ(rig->host.metric("davit_streamer_ring_hits_total") - before, 1000);
}

// --- point queries

v1::GetResponse get(ServerRig& rig, const std::string& id, const std::string& name = {}) {
  v1::GetRequest r;
  r.set_kind("widget");
  r.set_id(id);
  r.set_name(name);
  auto& call = rig.rpc.call(get_path, r.SerializeAsString());
  rig.host.run();
  v1::GetResponse out;
  EXPECT_EQ(call.messages.size(), 1u) << (call.end ? call.end->message : "");
  EXPECT_TRUE(out.ParseFromString(call.messages.empty() ? "" : call.messages[0]));
  return out;
}

TEST_F(StreamTest, GetSaysTheRecordAndAsOfWhenAlsoWhenThereIsNone) {
  auto rig = start();
  rig->put("a");
  rig->kill("b");
  EXPECT_TRUE(get(*rig, "a").record().has_apply());
  EXPECT_TRUE(get(*rig, "", "name-a").record().has_apply());
  EXPECT_TRUE(get(*rig, "b").record().has_delete_());
  auto none = get(*rig, "c");
  EXPECT_FALSE(none.has_record());
  EXPECT_EQ(none.at().version(), 2u);
  EXPECT_EQ(none.at().incarnation(), incarnation(*rig).value());
}

TEST_F(StreamTest, SettingsOfTheWrongSortAreFaults) {
  ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, {{"poll_interval_ms", 1}});
  auto r = rig.instance.create();
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().message.find("poll_interval_ms: must be between 10"), std::string::npos)
      << r.error().message;
}

}  // namespace
}  // namespace davit::streamer

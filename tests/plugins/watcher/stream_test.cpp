// One stream between a peer and a sink that the test plays, on a clock that stands still until it
// is moved.
#include "stream.hpp"

#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include "fake_rpc.hpp"
#include "neighbours.hpp"

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;
using Mark_ = v1::Bookmark;

// A sink that takes `room` changes before it asks to wait.
struct Sink : FakeSink {
  size_t room = 100;

  void begin(sink::Stream*, const sink::Begin& b) {
    seen += b.snapshot ? "snapshot" : "tail";
    for (const Cursor& link : b.history)
      seen += "(" + to_string(link.incarnation) + ":" + to_string(link.version) + ")";
    seen += " ";
  }
  bool offer(sink::Stream*, const sink::Change& c) {
    if (room == 0) return false;
    --room;
    seen += to_string(c.version) + " ";
    return true;
  }
  void bookmark(sink::Stream*, const sink::Bookmark& b) {
    seen += (b.snapshot_end ? "end" : "mark") +
            (b.live_count ? "(" + std::to_string(*b.live_count) + ") " : " ");
  }
};

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() : host_("watcher", {}, TestHost::Time::manual), rpc_(host_, "davit.v1") {
    add_sink(host_, sink_);
    const auto with =
        neighbours(host_, {}, [this](const std::string&, bool up, const std::string& why) {
          up_ = up;
          why_ = why;
        });
    stream_ = std::make_unique<Stream>(with, "deployment", davit_v1("deployment", "eu", "agent-1"));
    EXPECT_TRUE(stream_->start().ok());
    stream_->open();
    host_.run();
  }
  ~StreamTest() override {
    bool stopped = false;
    stream_->stop([&] { stopped = true; });
    host_.run();
    EXPECT_TRUE(stopped);
  }

  FakeRpc::Call& call() {
    auto* c = rpc_.open("Watch");
    if (c != nullptr) return *c;
    ADD_FAILURE() << "there is no stream";
    static FakeRpc::Call none;
    return none;
  }
  // What the open stream asked with.
  std::string asked() {
    v1::WatchRequest r;
    EXPECT_TRUE(r.ParseFromString(call().request));
    const auto& c = r.subscriptions(0).cursor();
    return std::to_string(c.incarnation()) + ":" + std::to_string(c.version());
  }
  void frame(const std::vector<uint64_t>& versions, std::optional<Mark_::Type> type = {},
             uint64_t incarnation = 1, uint64_t at = 0, uint64_t count = 0) {
    v1::Frame f;
    f.set_kind("deployment");
    for (const uint64_t v : versions) {
      auto& r = *f.add_records();
      r.set_id("d" + std::to_string(v));
      r.set_version(v);
      r.set_apply("x");
    }
    if (type) {
      f.mutable_bookmark()->set_type(*type);
      f.mutable_bookmark()->mutable_at()->set_incarnation(incarnation);
      f.mutable_bookmark()->mutable_at()->set_version(at);
      f.mutable_bookmark()->set_live_count(count);
    }
    rpc_.message(call(), f.SerializeAsString());
  }
  // The server ends the kind's part, and then the stream, in which there was nothing else.
  void end_part(Code code, const std::string& why, uint32_t retry_after_ms = 0) {
    v1::Frame f;
    f.set_kind("deployment");
    f.mutable_end()->set_code(static_cast<int32_t>(code));
    f.mutable_end()->set_message(why);
    f.mutable_end()->set_retry_after_ms(retry_after_ms);
    rpc_.message(call(), f.SerializeAsString());
  }
  void settle(uint64_t version) {
    sink_.source->settled(Version(version), sink::Outcome::done);
    host_.run();
  }
  // A snapshot of 3 and 5, applied.
  void bootstrap() {
    frame({}, Mark_::TYPE_BEGIN_SNAPSHOT, 1, 5);
    frame({3, 5});
    frame({}, Mark_::TYPE_SNAPSHOT_END, 1, 5, 2);
    settle(3);
    settle(5);
    sink_.take();
  }

  TestHost host_;
  FakeRpc rpc_;
  Sink sink_;
  bool up_ = false;
  std::string why_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(StreamTest, PassesOnASnapshotWithItsCount) {
  EXPECT_EQ(asked(), "0:0");
  frame({}, Mark_::TYPE_BEGIN_SNAPSHOT, 1, 5);
  frame({3, 5}, Mark_::TYPE_SNAPSHOT_END, 1, 5, 2);
  EXPECT_EQ(sink_.take(), "snapshot 3 5 end(2) ");
  EXPECT_TRUE(up_);
}

TEST_F(StreamTest, AsksAgainFromWhatCame) {
  bootstrap();
  frame({7, 9});
  settle(7);
  rpc_.end(call(), Code::unavailable, "going down");
  EXPECT_FALSE(up_);
  host_.advance(5s);
  EXPECT_EQ(asked(), "1:9") << "9 is not settled, and the sink has it";
}

TEST_F(StreamTest, AsksForTheSnapshotAgainWhenItWasCutOff) {
  frame({}, Mark_::TYPE_BEGIN_SNAPSHOT, 1, 5);
  frame({3, 5});
  settle(3);
  settle(5);
  rpc_.end(call(), Code::unavailable);
  host_.advance(5s);
  EXPECT_EQ(asked(), "0:0");
}

TEST_F(StreamTest, ConnectsAgainAfterOneToFiveSeconds) {
  bootstrap();
  for (int i = 0; i < 20; ++i) {
    rpc_.end(call(), Code::unavailable);
    host_.advance(999ms);
    EXPECT_EQ(rpc_.open("Watch"), nullptr) << "too early";
    host_.advance(4002ms);
    EXPECT_NE(rpc_.open("Watch"), nullptr) << "too late";
  }
}

TEST_F(StreamTest, WaitsAsLongAsThePeerAsks) {
  bootstrap();
  rpc_.end(call(), Code::unavailable, "", {{"retry-after-ms", "20000"}});
  host_.advance(19s);
  EXPECT_EQ(rpc_.open("Watch"), nullptr);
  host_.advance(2s);
  EXPECT_NE(rpc_.open("Watch"), nullptr);
}

TEST_F(StreamTest, ShowsWhyThePeerHasEndedItsKindAndSubscribesAgain) {
  bootstrap();
  auto& ended = call();
  end_part(Code::unavailable, "the store cannot be read", 20'000);
  EXPECT_TRUE(ended.cancelled) << "nothing else is in this stream";
  EXPECT_FALSE(up_);
  EXPECT_EQ(why_, "the store cannot be read");
  host_.advance(19s);
  EXPECT_EQ(rpc_.open("Watch"), nullptr) << "the server has asked for 20 seconds";
  host_.advance(2s);
  EXPECT_EQ(asked(), "1:5");
  frame({}, Mark_::TYPE_BEGIN_TAIL, 1, 5);
  EXPECT_TRUE(up_);
}

TEST_F(StreamTest, TellsOnceOfAKindThatThePeerKeepsEnding) {
  bootstrap();
  for (int i = 0; i < 4; ++i) {
    end_part(Code::unavailable, "the store cannot be read");
    host_.advance(5s);
  }
  size_t lines = 0;
  for (const auto& line : host_.log()) {
    lines += line.message == "stream lost" ? 1 : 0;
    EXPECT_NE(line.message, "stream connected again");
  }
  EXPECT_EQ(lines, 1u);
}

TEST_F(StreamTest, StartsFromNothingWhenThePeerEndsItsKindForItsPosition) {
  bootstrap();
  end_part(Code::out_of_range, "another history");
  EXPECT_EQ(asked(), "0:0") << "at once";
}

TEST_F(StreamTest, TakesWhatCameBeforeTheEndOfItsKind) {
  bootstrap();
  sink_.room = 0;
  frame({7});
  end_part(Code::out_of_range, "another history");
  EXPECT_FALSE(call().cancelled) << "the sink has not taken 7 yet";
  sink_.room = 10;
  sink_.source->wake();
  host_.run();
  EXPECT_EQ(sink_.take(), "7 ");
  EXPECT_EQ(asked(), "0:0");
}

TEST_F(StreamTest, ReadsNoFurtherWhileTheSinkHasNoRoom) {
  bootstrap();
  sink_.room = 1;
  frame({7, 8, 9});
  EXPECT_EQ(sink_.take(), "7 ");
  EXPECT_EQ(call().reads, 0) << "the next message is not asked for";
  sink_.room = 10;
  sink_.source->wake();
  host_.run();
  EXPECT_EQ(sink_.take(), "8 9 ");
  EXPECT_EQ(call().reads, 1);
}

TEST_F(StreamTest, StartsFromNothingWhenItsPositionIsVoid) {
  bootstrap();
  rpc_.end(call(), Code::out_of_range);
  EXPECT_EQ(asked(), "0:0") << "at once";
  frame({}, Mark_::TYPE_BEGIN_SNAPSHOT, 2, 4);
  EXPECT_EQ(sink_.take(), "snapshot ");
}

TEST_F(StreamTest, AnotherRefusalMuchLaterIsAFirstOneAgain) {
  for (int i = 0; i < 3; ++i) {
    bootstrap();
    host_.advance(60s);
    rpc_.end(call(), Code::out_of_range);
    EXPECT_EQ(asked(), "0:0") << "at once";
  }
  EXPECT_FALSE(host_.logged("stream lost"));
  bootstrap();
  host_.advance(60s);
  rpc_.end(call(), Code::unavailable);
  host_.advance(5s);
  rpc_.end(call(), Code::out_of_range);
  EXPECT_EQ(asked(), "0:0") << "the server had been away in between";
}

// Otherwise a server that begins a stream and refuses it would be asked without end.
TEST_F(StreamTest, WhoIsRefusedAgainSoonWaits) {
  bootstrap();
  rpc_.end(call(), Code::out_of_range);
  for (int i = 0; i < 3; ++i) {
    frame({}, Mark_::TYPE_BEGIN_SNAPSHOT, 2, 4);
    rpc_.end(call(), Code::out_of_range);
    EXPECT_EQ(rpc_.open("Watch"), nullptr);
    host_.advance(5s);
  }
}

TEST_F(StreamTest, TellsTheStoresHistoryAndSaysWhenItHasLostSomething) {
  bootstrap();
  rpc_.end(call(), Code::unavailable);
  host_.advance(5s);
  EXPECT_EQ(asked(), "1:5");
  rpc_.end(call(), Code::out_of_range);
  v1::Frame f;
  f.set_kind("deployment");
  f.mutable_bookmark()->set_type(Mark_::TYPE_BEGIN_SNAPSHOT);
  for (const auto& [incarnation, version] : {std::pair(1, 4), std::pair(2, 6)}) {
    f.mutable_bookmark()->mutable_at()->set_incarnation(incarnation);
    f.mutable_bookmark()->mutable_at()->set_version(version);
    *f.mutable_bookmark()->add_history() = f.bookmark().at();
  }
  rpc_.message(call(), f.SerializeAsString());
  EXPECT_EQ(sink_.take(), "snapshot(1:4)(2:6) ");
  EXPECT_TRUE(host_.logged("the server's store has lost changes that it had sent kind=deployment"));
}

TEST_F(StreamTest, GoesOnAfterTheServerStartedAgain) {
  bootstrap();
  rpc_.end(call(), Code::unavailable);
  host_.advance(5s);
  EXPECT_EQ(asked(), "1:5");
  frame({}, Mark_::TYPE_BEGIN_TAIL, 2, 5);
  EXPECT_EQ(sink_.take(), "tail ");
}

// What comes afterwards is of the new incarnation, and so are positions.
TEST_F(StreamTest, TellsItsSinkOfAnIncarnationThatBeginsUnderIt) {
  bootstrap();
  frame({}, Mark_::TYPE_BEGIN_TAIL, 2, 5);
  EXPECT_EQ(sink_.take(), "tail ");
  frame({6}, Mark_::TYPE_UNSPECIFIED, 2, 6);
  sink_.take();
  settle(6);
  rpc_.end(call(), Code::unavailable);
  host_.advance(5s);
  EXPECT_EQ(asked(), "2:6");
  EXPECT_FALSE(
      host_.logged("the server's store has lost changes that it had sent kind=deployment"));
}

// A snapshot without an end is none: what it did not name may be there all the same.
TEST_F(StreamTest, ACleanCloseInTheMiddleOfASnapshotIsNotItsEnd) {
  frame({}, Mark_::TYPE_BEGIN_SNAPSHOT, 1, 5);
  frame({3});
  settle(3);
  rpc_.end(call(), Code::ok);
  EXPECT_EQ(sink_.take(), "snapshot 3 ");
  EXPECT_TRUE(host_.logged("stream lost"));
  host_.advance(5s);
  EXPECT_EQ(asked(), "0:0");
}

TEST_F(StreamTest, ACleanCloseAfterASnapshotIsNoTrouble) {
  bootstrap();
  frame({7});
  settle(7);
  rpc_.end(call(), Code::ok);
  EXPECT_FALSE(host_.logged("stream lost"));
  host_.advance(5s);
  EXPECT_EQ(asked(), "1:7");
}

TEST_F(StreamTest, EndsAStreamThatSendsGarbage) {
  bootstrap();
  auto& broken = call();
  rpc_.message(broken, "\xff\xff\xff");
  EXPECT_TRUE(broken.cancelled);
  EXPECT_FALSE(up_);
  host_.advance(5s);
  EXPECT_EQ(asked(), "1:5");
}

TEST_F(StreamTest, TellsOfTroubleOnceAndOfItsEndWithACount) {
  bootstrap();
  for (int i = 0; i < 3; ++i) {
    rpc_.end(call(), Code::unavailable, "no route");
    host_.advance(5s);
  }
  frame({}, Mark_::TYPE_BEGIN_TAIL, 1, 5);
  size_t lost = 0;
  for (const auto& line : host_.log()) lost += line.message == "stream lost" ? 1 : 0;
  EXPECT_EQ(lost, 1u);
  EXPECT_TRUE(host_.logged("stream connected again kind=deployment failures=3"));
}

TEST_F(StreamTest, TroubleThatBecomesAnotherOneIsToldAndHealthHasTheNewestReason) {
  bootstrap();
  const auto lines = [&] {
    const auto log = host_.log();
    return std::count_if(log.begin(), log.end(),
                         [](const auto& line) { return line.message == "stream lost"; });
  };
  const auto ends = [&](Code code, const std::string& why) {
    rpc_.end(call(), code, why);
    EXPECT_EQ(why_, why);
    host_.advance(5s);
  };
  ends(Code::unavailable, "no route");
  ends(Code::unavailable, "connection refused");
  EXPECT_EQ(lines(), 1);
  ends(Code::unauthenticated, "the token is not valid");
  EXPECT_EQ(lines(), 2);
  frame({}, Mark_::TYPE_BEGIN_TAIL, 1, 5);
  ends(Code::unauthenticated, "the token is not valid");
  EXPECT_EQ(lines(), 3) << "it had ended";
}

}  // namespace
}  // namespace davit::watcher

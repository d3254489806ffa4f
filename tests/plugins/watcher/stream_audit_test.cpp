// A stream of a peer without bookmarks, which forgets to say what has become of its records. The
// dialect is one of words: "apply ID VERSION", "delete ID VERSION".
#include <gtest/gtest.h>

#include <sstream>

#include "fake_rpc.hpp"
#include "neighbours.hpp"
#include "stream.hpp"

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;

struct AuditSink : FakeSink {
  bool full = false;

  void begin(sink::Stream*, const sink::Begin& b) { seen += b.snapshot ? "snapshot " : "tail "; }
  bool offer(sink::Stream*, const sink::Change& c) {
    if (full) return false;
    seen += (c.type == sink::ChangeType::remove ? "-" : "+") + c.key.id + c.name +
            to_string(c.version) + " ";
    return true;
  }
  void bookmark(sink::Stream*, const sink::Bookmark& b) {
    seen += b.quiet ? "quiet " : b.snapshot_end ? "end " : "mark ";
  }
};

Dialect words() {
  Dialect out;
  out.path = "Words/Watch";
  out.get_path = "Words/Get";
  out.bookmarks = false;
  out.request = [](Cursor from) { return Buffer::of("from " + to_string(from.version)); };
  out.get_request = [](const std::string& id) { return id; };
  out.decode = [](const Buffer& m) -> Result<Batch> {
    std::istringstream in{std::string(m.view())};
    std::string verb, id;
    Item item;
    uint64_t version = 0;
    in >> verb >> id >> version;
    item.change.version = Version(version);
    item.change.type = verb == "apply" ? sink::ChangeType::apply : sink::ChangeType::remove;
    item.change.key = {"word", "eu", id};
    Batch batch;
    batch.items.push_back(std::move(item));
    return batch;
  };
  return out;
}

class StreamAuditTest : public ::testing::Test {
 protected:
  explicit StreamAuditTest(std::chrono::milliseconds quiet = 0s)
      : host_("watcher", {}, TestHost::Time::manual), rpc_(host_, "ctrl.v1") {
    add_sink(host_, sink_);
    const auto with =
        neighbours(host_, {1s, 1s, {300s, 60s}, quiet},
                   [this](const std::string&, bool up, const std::string&) { up_ = up; });
    stream_ = std::make_unique<Stream>(with, "word", words());
    EXPECT_TRUE(stream_->start().ok());
    stream_->open();
    host_.run();
    say("apply a 1");
    say("apply b 2");
    say("apply c 3");
    EXPECT_EQ(sink_.take(), "snapshot +a1 +b2 +c3 ");
  }
  ~StreamAuditTest() override {
    bool stopped = false;
    stream_->stop([&] { stopped = true; });
    if (auto* get = rpc_.open("Get")) rpc_.end(*get, Code::unavailable);
    host_.run();
    EXPECT_TRUE(stopped);
  }
  void say(const std::string& word) {
    auto* watch = rpc_.open("Watch");
    ASSERT_NE(watch, nullptr);
    rpc_.message(*watch, word);
  }
  // Goes on until the stream begins anew; what it asked with.
  std::string relist() {
    host_.advance(300s);
    auto* watch = rpc_.open("Watch");
    return watch == nullptr ? "nothing" : watch->request;
  }
  // The id that is asked for at this moment.
  std::string asked() {
    auto* get = rpc_.open("Get");
    return get == nullptr ? "" : get->request;
  }

  TestHost host_;
  FakeRpc rpc_;
  AuditSink sink_;
  bool up_ = false;
  std::unique_ptr<Stream> stream_;
};

TEST_F(StreamAuditTest, TakesACleanCloseForTheEndOfWhatIsListed) {
  rpc_.end(*rpc_.open("Watch"), Code::ok);
  EXPECT_EQ(sink_.take(), "end ");
}

TEST_F(StreamAuditTest, FinishesWhatIsInHandBeforeItTakesACloseForTheEnd) {
  sink_.full = true;
  say("apply d 4");
  rpc_.end(*rpc_.open("Watch"), Code::ok);
  EXPECT_EQ(sink_.take(), "");
  sink_.full = false;
  sink_.source->wake();
  host_.run();
  EXPECT_EQ(sink_.take(), "+d4 end ");
}

TEST_F(StreamAuditTest, FindsWhatWasCommittedLateByListingAgain) {
  EXPECT_EQ(relist(), "from 0");
  say("apply a 1");
  say("apply late 2");
  EXPECT_EQ(sink_.take(), "snapshot +a1 +late2 ");
}

TEST_F(StreamAuditTest, TakesAwayWhatThePeerSaysTwiceIsGone) {
  relist();
  say("apply a 1");
  say("apply b 2");
  sink_.take();
  EXPECT_EQ(asked(), "");
  host_.advance(61s);
  ASSERT_EQ(asked(), "c");
  rpc_.end(*rpc_.open("Get"), Code::not_found);
  EXPECT_EQ(sink_.take(), "") << "once is not enough";
  host_.advance(61s);
  ASSERT_EQ(asked(), "c");
  sink_.full = true;
  rpc_.end(*rpc_.open("Get"), Code::not_found);
  EXPECT_EQ(sink_.take(), "");
  sink_.full = false;
  sink_.source->wake();
  host_.run();
  EXPECT_EQ(sink_.take(), "-c3 ");
  host_.advance(61s);
  EXPECT_EQ(asked(), "");
}

TEST_F(StreamAuditTest, BelievesNoFaultAndTakesWhatIsThere) {
  relist();
  say("apply a 1");
  say("apply b 2");
  sink_.take();
  host_.advance(61s);
  rpc_.end(*rpc_.open("Get"), Code::not_found);
  host_.advance(61s);
  rpc_.end(*rpc_.open("Get"), Code::unavailable);
  host_.advance(61s);
  rpc_.answer(*rpc_.open("Get"), "apply c 0");
  EXPECT_EQ(sink_.take(), "+c3 ") << "the version that it had";
}

TEST_F(StreamAuditTest, TakesNothingAwayFromAPeerThatHasForgottenItsRegion) {
  relist();
  host_.advance(200s);
  EXPECT_EQ(asked(), "");
  EXPECT_EQ(sink_.take(), "snapshot ");
}

// --- a bootstrap has no end that the peer says

struct QuietStreamTest : StreamAuditTest {
  QuietStreamTest() : StreamAuditTest(30s) {}
};

TEST_F(QuietStreamTest, ABootstrapIsOverWhenThePeerHasBeenSilentForLong) {
  host_.advance(20s);
  say("apply d 4");
  host_.advance(29s);
  EXPECT_EQ(sink_.take(), "+d4 ");
  host_.advance(2s);
  EXPECT_EQ(sink_.take(), "quiet ");
  say("apply e 5");
  host_.advance(200s);
  EXPECT_EQ(sink_.take(), "+e5 ") << "once";
}

TEST_F(QuietStreamTest, ABootstrapThatIsCutIsOverWhenTheStreamThatGoesOnIsSilent) {
  for (const uint64_t version : {1, 2, 3})
    sink_.source->settled(Version(version), sink::Outcome::done);
  host_.advance(20s);
  rpc_.end(*rpc_.open("Watch"), Code::unavailable);
  EXPECT_EQ(rpc_.open("Watch"), nullptr);
  host_.advance(15s);
  say("apply d 4");
  host_.advance(20s);
  EXPECT_EQ(sink_.take(), "tail +d4 ");
  host_.advance(15s);
  EXPECT_EQ(sink_.take(), "quiet ");
}

TEST_F(QuietStreamTest, NoBootstrapIsOverWhileThePeerIsAway) {
  host_.advance(20s);
  rpc_.end(*rpc_.open("Watch"), Code::unavailable);
  for (int i = 0; i < 100; ++i) {
    host_.advance(2s);
    if (auto* watch = rpc_.open("Watch")) rpc_.end(*watch, Code::unavailable);
  }
  EXPECT_EQ(sink_.take().find("quiet"), std::string::npos);
}

TEST_F(QuietStreamTest, NoBootstrapIsOverWhileTheSinkHasNoRoom) {
  sink_.full = true;
  say("apply d 4");
  host_.advance(60s);
  EXPECT_EQ(sink_.take(), "");
  sink_.full = false;
  sink_.source->wake();
  host_.advance(29s);
  EXPECT_EQ(sink_.take(), "+d4 ");
  host_.advance(2s);
  EXPECT_EQ(sink_.take(), "quiet ");
}

TEST_F(QuietStreamTest, AnotherListingIsOverInTheSameWay) {
  host_.advance(299s);
  EXPECT_EQ(sink_.take(), "quiet ");
  host_.advance(2s);
  EXPECT_EQ(sink_.take(), "snapshot ");
  say("apply a 1");
  host_.advance(32s);
  EXPECT_EQ(sink_.take(), "+a1 quiet ");
}

// --- a call that waits for its connection looks like a quiet one

TEST_F(QuietStreamTest, WhoHasNotReachedThePeerIsNotConnected) {
  rpc_.end(*rpc_.open("Watch"), Code::unavailable);
  ASSERT_FALSE(up_);
  rpc_.reachable = false;
  for (int i = 0; i < 3; ++i) {
    host_.advance(1s);
    ASSERT_NE(rpc_.open("Watch"), nullptr);
    host_.advance(10s);
    EXPECT_FALSE(up_);
    rpc_.end(*rpc_.open("Watch"), Code::unavailable, "no connection within 10 s");
  }
  EXPECT_FALSE(host_.logged("stream connected again"));
  host_.advance(1s);
  rpc_.connect(*rpc_.open("Watch"));
  host_.advance(999ms);
  EXPECT_FALSE(up_) << "the peer may refuse the call at once";
  host_.advance(1ms);
  EXPECT_TRUE(up_);
  EXPECT_TRUE(rpc_.open("Watch")->half_closed);
  EXPECT_TRUE(host_.logged("stream connected again kind=word failures=4"));
}

TEST_F(QuietStreamTest, NoSilenceBeforeTheConnectionEndsAListing) {
  host_.advance(299s);
  EXPECT_EQ(sink_.take(), "quiet ");
  rpc_.reachable = false;
  host_.advance(2s);
  EXPECT_EQ(sink_.take(), "snapshot ");
  host_.advance(60s);
  EXPECT_EQ(sink_.take(), "");
  rpc_.connect(*rpc_.open("Watch"));
  host_.advance(29s);
  EXPECT_EQ(sink_.take(), "");
  host_.advance(2s);
  EXPECT_EQ(sink_.take(), "quiet ");
}

}  // namespace
}  // namespace davit::watcher

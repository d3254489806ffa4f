// A ctrl.v1 stream of a kind that takes long, or that cannot answer now.
#include <gtest/gtest.h>

#include "../fakes/fake_codec.hpp"
#include "neighbours.hpp"
#include "wire/fields.hpp"

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::TestHost;

struct WordSink : FakeSink {
  bool full = false;
  void begin(sink::Stream*, const sink::Begin&) {}
  bool offer(sink::Stream*, const sink::Change& c) {
    if (full) return false;
    seen += (c.type == sink::ChangeType::remove ? "-" : "+") + c.key.id + c.name + " ";
    return true;
  }
  void bookmark(sink::Stream*, const sink::Bookmark&) {}
};

struct WordIssues {
  std::string seen;
  void offer(const Status&) {}
  void advance(const std::string&, const KindProgress&) {}
  void issue(const std::string&, const Issue& i) {
    seen += i.kind + " " + (i.condition.empty() ? "well" : i.condition + ": " + i.reason) + "|";
  }
};

// A word's message is {word}.
struct Word {
  std::function<void()> entered = [] {};
  bool busy = false;
  size_t asked = 0;
  kind::Described kept = [] {
    kind::Description d;
    d.kind = "word";
    d.apply_type = "x.Word";
    d.ctrl_v1.emplace();
    d.ctrl_v1->watch = "WatchWords";
    d.ctrl_v1->get = "GetWord";
    d.ctrl_v1->state_type = "x.WordState";
    return kind::Described(d);
  }();

  Result<> enter() const {
    auto& self = const_cast<Word&>(*this);
    ++self.asked;
    self.entered();
    if (busy) return Error{Code::unavailable, "is starting"};
    return {};
  }
  const kind::Described& described() const { return kept; }
  Result<Named> identify(std::string_view apply) const {
    if (auto r = enter(); !r.ok()) return r.error();
    if (apply == "{odd}") return Error{Code::invalid_argument, "is odd"};
    return Named{std::string(apply.substr(1, apply.size() - 2)), "shop", ""};
  }
  Result<std::string> delete_message(const Named& n) const {
    if (auto r = enter(); !r.ok()) return r.error();
    return R"({"delete":{"space":")" + n.ns + R"(","word":")" + n.name + "\"}}";
  }
  static Result<> validate(std::string_view) { return {}; }
  static Result<kind::Class> classify(std::string_view, std::string_view) {
    return kind::Class::apply;
  }
  static Result<std::string> reconcile(std::string_view) { return std::string("{}"); }
  static Result<Named> attribute(std::string_view) { return Named{}; }
  static Result<std::string> to_report(const Named&, const Status&) { return std::string("{}"); }
  static Result<std::pair<Named, Status>> from_report(std::string_view) {
    return std::pair<Named, Status>{};
  }
};

class StreamKindTest : public ::testing::Test {
 protected:
  StreamKindTest() : host_("watcher", {}, TestHost::Time::manual), rpc_(host_, "ctrl.v1") {
    host_.add_service(DAVIT_CODEC, testing::fake_codec());
    host_.add_role("words", DAVIT_KIND, reinterpret_cast<davit_instance*>(&word_),
                   kind::Role::vtable<Word>());
    host_.add_role("reporter", DAVIT_STATUS_SINK, reinterpret_cast<davit_instance*>(&issues_),
                   sink::StatusRole::vtable<WordIssues>());
    add_sink(host_, sink_);
    const auto kind = kind::Client::all(host_).at(0);
    auto dialect = ctrl_v1(kind, *kind.schema(host_), "eu");
    EXPECT_TRUE(dialect.ok());
    auto with = std::make_shared<Neighbours>(
        *neighbours(host_, {1s, 1s, {0s, 60s}, 0s},
                    [this](const std::string&, bool, const std::string& why) { why_ = why; }));
    with->status = *sink::StatusClient::find(host_, "reporter");
    stream_ = std::make_unique<Stream>(with, "word", *dialect);
    EXPECT_TRUE(stream_->start().ok());
    stream_->open();
    host_.run();
  }
  ~StreamKindTest() override {
    stop();
    EXPECT_TRUE(stopped_);
  }
  void stop() {
    if (!std::exchange(stopping_, true)) stream_->stop([this] { stopped_ = true; });
    host_.run();
    if (auto* call = rpc_.open("WatchWords")) rpc_.end(*call, Code::cancelled);
    host_.run();
  }

  // From the peer. Does not wait until it is taken in.
  static std::string applied(const std::string& word, uint64_t version) {
    std::string m;
    wire::put_integer(m, 3, version);
    wire::put_bytes(m, 1, "{" + word + "}");
    return m;
  }
  static std::string deleted(const std::string& word, uint64_t version) {
    std::string m;
    wire::put_integer(m, 3, version);
    wire::put_bytes(m, 2, R"({"delete":{"space":"shop","word":")" + word + "\"}}");
    return m;
  }
  void say(const std::string& message) { rpc_.message(*rpc_.open("WatchWords"), message); }
  std::string seen() { return sink_.take(); }

  TestHost host_;
  FakeRpc rpc_;
  Word word_;
  WordSink sink_;
  WordIssues issues_;
  std::unique_ptr<Stream> stream_;
  std::string why_;
  bool stopping_ = false, stopped_ = false;
};

TEST_F(StreamKindTest, IsAskedOnItsPoolAndTheOrderStays) {
  say(applied("a", 1));
  say(applied("b", 2));
  say(deleted("a", 3));
  say(applied("odd", 4));
  say(applied("c", 5));
  EXPECT_EQ(seen(), "+a +b -a +c ");
  EXPECT_EQ(issues_.seen, "word parked: is odd|");
}

TEST_F(StreamKindTest, KeepsTheOrderOfWhatComesWhileASlotIsUnderWay) {
  int more = 0;
  word_.entered = [&] {
    if (more++ < 3) say(applied("m" + std::to_string(more), 10 + static_cast<uint64_t>(more)));
    host_.advance(1s);
  };
  say(applied("a", 1));
  say(deleted("b", 20));
  host_.advance(1min);
  EXPECT_EQ(seen(), "+a +m1 +m2 +m3 -b ");
}

TEST_F(StreamKindTest, ReadsNoMoreAheadThanItMay) {
  sink_.full = true;
  for (uint64_t n = 1; n <= 200; ++n) say(applied("w", n));
  host_.run();
  EXPECT_LE(word_.asked, 65u);
  EXPECT_GE(word_.asked, 2u) << "but some";
  sink_.full = false;
  sink_.source->wake();
  host_.run();
  EXPECT_EQ(word_.asked, 200u);
  EXPECT_EQ(seen().size(), 200 * std::string("+w ").size());
}

TEST_F(StreamKindTest, ThatCannotAnswerForAnHourDelaysAndParksNothing) {
  say(applied("a", 1));
  word_.busy = true;
  word_.asked = 0;
  say(applied("b", 2));
  say(deleted("a", 3));
  host_.advance(1h);
  EXPECT_EQ(seen(), "+a ");
  EXPECT_EQ(issues_.seen, "word delayed: kind word: is starting|");
  EXPECT_GE(word_.asked, 100u);
  EXPECT_LE(word_.asked, 400u) << "with back-off";
  EXPECT_TRUE(host_.logged("changes wait for their kind"));
  EXPECT_TRUE(rpc_.open("WatchWords")) << "the stream goes on";
  word_.busy = false;
  host_.advance(1min);
  EXPECT_EQ(seen(), "+b -a ");
  EXPECT_EQ(issues_.seen, "word delayed: kind word: is starting|word well|");
}

// The peer sends again what the stream has not taken in.
TEST_F(StreamKindTest, WhatAnEndedCallHasBroughtIsTakenInFirst) {
  word_.busy = true;
  say(applied("a", 1));
  say(applied("b", 2));
  rpc_.end(*rpc_.open("WatchWords"), Code::unavailable, "restarts");
  host_.advance(10s);
  EXPECT_FALSE(rpc_.open("WatchWords"));
  word_.busy = false;
  host_.advance(30s);
  EXPECT_EQ(seen(), "+a +b ");
  EXPECT_TRUE(rpc_.open("WatchWords")) << "and it comes back";
}

TEST_F(StreamKindTest, AMessageThatCannotBeReadEndsTheCallAndWhatCameAfterIt) {
  say(applied("a", 1));
  bool in_slot = false;
  word_.entered = [&] {
    if (std::exchange(in_slot, true)) return;
    say("\xff\xff\xff");
    say(applied("c", 3));
    host_.advance(1s);
  };
  say(applied("b", 2));
  EXPECT_EQ(seen(), "+a +b ");
  EXPECT_NE(why_.find("cannot be read"), std::string::npos) << why_;
}

TEST_F(StreamKindTest, StopWaitsForTheSlotThatIsUnderWay) {
  bool in_slot = false;
  word_.entered = [&] {
    if (std::exchange(in_slot, true)) return;
    stop();
    host_.advance(1s);
    EXPECT_FALSE(stopped_);
  };
  say(applied("a", 1));
  host_.run();
  EXPECT_TRUE(in_slot);
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(seen(), "") << "nothing is offered after the stop";
}

TEST_F(StreamKindTest, StopDoesNotWaitForAKindThatCannotAnswer) {
  word_.busy = true;
  say(applied("a", 1));
  stop();
  EXPECT_TRUE(stopped_);
}

}  // namespace
}  // namespace davit::watcher

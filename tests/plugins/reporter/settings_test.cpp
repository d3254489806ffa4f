// Each setting that says how the reporter talks to its peer does what README.md says: the plugin as
// it is loaded, with a value that is not the default, on a clock that stands still until it is
// moved.
#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include <davit/sink.hpp>

#include "../fakes/stop_running.hpp"
#include "../watcher/fake_rpc.hpp"

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;
using testing::Config;
using testing::FakeRpc;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

class Started {
 public:
  explicit Started(const Config::Entry& setting, const std::string& protocol = "davit.v1")
      : host("reporter", {{"server", "control"}, setting}, TestHost::Time::manual),
        rpc(host, protocol),
        reporter_(module_.plugin(), host) {
    const auto up = reporter_.up();
    EXPECT_TRUE(up.ok()) << up.error().message;
    host.advance(0ns);
    sink = sink::StatusClient(reporter_.ref(DAVIT_STATUS_SINK));
  }
  ~Started() {
    // A stop waits for the answers of a peer that is there.
    while (auto* call = rpc.open("")) rpc.end(*call, Code::unavailable, "gone");
    EXPECT_TRUE(testing::stop_running(reporter_, host).ok());
  }

  void offer(const std::string& id) {
    Status s;
    s.key = {"deployment", "eu", id};
    EXPECT_TRUE(sink.offer(s).ok());
    host.advance(0ns);
  }
  // The next word of progress, when it comes; the answer is the epoch of another agent.
  void hear_progress(uint64_t epoch_taken = 0) {
    ASSERT_TRUE(host.run_until([&] { return rpc.open("Progress") != nullptr; }, 1min));
    v1::ProgressResponse response;
    response.set_epoch_taken(epoch_taken);
    rpc.answer(*rpc.open("Progress"), response.SerializeAsString());
  }
  // The ids of the report under way, which is taken; "" when there is none.
  std::string taken() {
    auto* call = rpc.open("Report");
    v1::ReportRequest r;
    if (call == nullptr || !r.ParseFromString(call->request)) return {};
    std::string out;
    for (const auto& s : r.statuses()) out += s.id();
    rpc.answer(*call, v1::ReportResponse().SerializeAsString());
    return out;
  }

  TestHost host;
  FakeRpc rpc;
  sink::StatusClient sink;

 private:
  Loaded module_ = *Loaded::open(REPORTER);
  Instance reporter_;
};

Config::Entry in_ms(const char* key, std::chrono::milliseconds value) {
  return {key, int64_t{value.count()}};
}

TEST(ReporterSettings, BatchWindowIsWaitedFor) {
  for (const auto window : {1'000ms, 20'000ms}) {
    Started r(in_ms("batch_window_ms", window));
    r.hear_progress();
    r.offer("a");
    EXPECT_EQ(r.taken(), "a") << "at once";
    r.offer("b");
    r.host.advance(window - 1ms);
    r.offer("c");
    EXPECT_EQ(r.taken(), "") << window.count();
    r.host.advance(1ms);
    EXPECT_EQ(r.taken(), "bc") << window.count();
  }
}

TEST(ReporterSettings, ProgressWaitsForTheBatchWindow) {
  for (const auto window : {1'000ms, 20'000ms}) {
    Started r(in_ms("batch_window_ms", window));
    ASSERT_NE(r.rpc.open("Progress"), nullptr) << "the first word comes at once";
    r.hear_progress();
    r.sink.advance("eu", {"deployment", {1, 17}});
    r.host.advance(window - 1ms);
    EXPECT_EQ(r.rpc.open("Progress"), nullptr) << window.count();
    r.host.advance(1ms);
    EXPECT_NE(r.rpc.open("Progress"), nullptr) << window.count();
  }
}

TEST(ReporterSettings, CapacityIsHowManyRecordsMayWait) {
  for (const int64_t capacity : {1, 3}) {
    Started r({"capacity", capacity});
    for (const char* id : {"a", "b", "c", "d", "e"}) r.offer(id);
    EXPECT_EQ(r.host.metric("davit_reporter_waiting"), capacity);
    r.hear_progress();
    r.host.advance(0ns);
    EXPECT_EQ(r.taken(), std::string("abcde").substr(5 - static_cast<size_t>(capacity)));
  }
}

TEST(ReporterSettings, ACallHasAsLongAsCallTimeoutSays) {
  for (const auto timeout : {300ms, 60'000ms}) {
    Started r(in_ms("call_timeout_ms", timeout));
    ASSERT_NE(r.rpc.open("Progress"), nullptr);
    EXPECT_EQ(r.rpc.open("Progress")->deadline, r.host.now() + timeout);
    r.hear_progress();
    r.host.advance(5s);
    r.offer("a");
    ASSERT_NE(r.rpc.open("Report"), nullptr);
    EXPECT_EQ(r.rpc.open("Report")->deadline, r.host.now() + timeout);

    Started krane(in_ms("call_timeout_ms", timeout), "ctrl.v1");
    ASSERT_NE(krane.rpc.open("Heartbeat"), nullptr);
    EXPECT_EQ(krane.rpc.open("Heartbeat")->deadline, krane.host.now() + timeout);
  }
}

// Two agents that rise above each other in turn: each rise begins a repetition of all statuses.
TEST(ReporterSettings, TwoRepetitionsBeginRepeatIntervalApart) {
  for (const auto interval : {20'000ms, 300'000ms}) {
    Started r(in_ms("repeat_interval_ms", interval));
    r.hear_progress();
    const auto own = static_cast<uint64_t>(r.host.host().unix_ms());
    r.offer("a");
    EXPECT_EQ(r.taken(), "a");
    r.hear_progress();  // `a` is confirmed
    r.hear_progress(own + 1'000'000);
    const auto first = r.host.now();
    r.host.advance(1s);
    EXPECT_EQ(r.taken(), "a") << "the first repetition begins at once";
    r.hear_progress();
    r.sink.advance("eu", {"deployment", {1, 17}});
    r.hear_progress();  // `a` is confirmed
    r.sink.advance("eu", {"deployment", {1, 18}});
    r.hear_progress(own + 2'000'000);
    r.host.advance(first + interval - 1ms - r.host.now());
    EXPECT_EQ(r.taken(), "") << interval.count();
    r.host.advance(1ms);
    EXPECT_EQ(r.taken(), "a") << interval.count();
  }
}

TEST(ReporterSettings, ABadValueIsNamed) {
  for (const char* key : {"batch_window_ms", "call_timeout_ms", "repeat_interval_ms"}) {
    const TestHost::Time manual = TestHost::Time::manual;
    TestHost host("reporter", {{"server", "control"}, {key, -1}}, manual);
    const auto module = *Loaded::open(REPORTER);
    Instance reporter(module.plugin(), host);
    const auto created = reporter.create();
    ASSERT_FALSE(created.ok()) << key;
    EXPECT_NE(created.error().message.find(key), std::string::npos) << created.error().message;
  }
}

}  // namespace
}  // namespace davit::reporter

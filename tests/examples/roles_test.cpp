// The small examples of the roles, as the host sees them. cluster_audit passes the cluster's suite.
#include <gtest/gtest.h>
#include <davit/gate.hpp>
#include <davit/sink.hpp>
#include <davit/testing/module.hpp>

#include "fakes/fake_rpc.hpp"
#include "fakes/stop_running.hpp"

namespace davit {
namespace {

using std::chrono::seconds;
using testing::Config;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

// One of the plugins, in manual time.
class Example {
 public:
  Example(const char* path, const Config& config)
      : loaded_(Loaded::open(path)), host("example", config, TestHost::Time::manual) {}
  void up() {
    ASSERT_TRUE(loaded_.ok()) << loaded_.error().message;
    instance_.emplace(loaded_->plugin(), host);
    const auto r = instance_->up();
    ASSERT_TRUE(r.ok()) << r.error().message;
  }
  ~Example() {
    if (instance_) stop();
  }
  void stop() {
    if (std::exchange(stopped_, true)) return;
    const auto r = testing::stop_running(*instance_, host);
    EXPECT_TRUE(r.ok()) << r.error().message;
  }
  Instance& instance() { return *instance_; }

 private:
  Result<Loaded> loaded_;

 public:
  TestHost host;

 private:
  std::optional<Instance> instance_;
  bool stopped_ = false;
};

TEST(GateFile, OpensOnceWithTheNumberInItsFile) {
  Example gate(GATE_FILE, {{"path", "/run/epoch"}});
  gate.host.set_credential("/run/epoch", "");
  gate.up();
  std::vector<uint64_t> opened;
  const auto wait = [&] {
    gate.instance()
        .role<davit_gate>(DAVIT_GATE)
        ->wait(
            gate.instance().get(),
            [](void* ctx, uint64_t epoch) {
              static_cast<decltype(opened)*>(ctx)->push_back(epoch);
            },
            &opened);
  };
  wait();
  gate.host.advance(seconds(5));
  EXPECT_TRUE(opened.empty());
  gate.host.set_credential("/run/epoch", "17\n");
  gate.host.advance(seconds(5));
  wait();  // who comes late is told at once
  gate.host.run();
  EXPECT_EQ(opened, (std::vector<uint64_t>{17, 17}));
}

TEST(GateFile, SaysZeroWhenItStopsBeforeItHasOpened) {
  Example gate(GATE_FILE, {{"path", "/run/epoch"}});
  gate.host.set_credential("/run/epoch", "not a number");
  gate.up();
  std::optional<uint64_t> epoch;
  gate.instance()
      .role<davit_gate>(DAVIT_GATE)
      ->wait(
          gate.instance().get(),
          [](void* ctx, uint64_t e) { *static_cast<std::optional<uint64_t>*>(ctx) = e; }, &epoch);
  gate.host.advance(seconds(2));
  EXPECT_FALSE(epoch);
  gate.stop();
  EXPECT_EQ(epoch, 0u);
}

TEST(ChangesLog, SettlesEachChangeOnceAndClosesLast) {
  Example changes(CHANGES_LOG, {});
  changes.up();
  std::vector<std::string> told;
  const sink::ChangeClient client(changes.instance().ref(DAVIT_CHANGE_SINK));
  const auto stream = client.open(
      "widget", "eu",
      {[] {},
       [&](Version version, sink::Outcome outcome) {
         told.push_back(to_string(version) + (outcome == sink::Outcome::held ? " held" : " done"));
       },
       [&] { told.emplace_back("closed"); }});
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE(stream->begin({true, {1, 9}, {}}).ok());
  sink::Change change;
  change.key = {"widget", "eu", "a"};
  change.version = 5;
  EXPECT_TRUE(stream->offer(change));
  change.type = sink::ChangeType::hold;
  change.version = 7;
  EXPECT_TRUE(stream->offer(change));
  ASSERT_TRUE(stream->bookmark({true, 2, {1, 9}}).ok());
  EXPECT_TRUE(told.empty()) << "it is not told within its own call";
  stream->close();
  changes.host.run();
  EXPECT_EQ(told, (std::vector<std::string>{"5 done", "7 held", "closed"}));
  EXPECT_TRUE(changes.host.logged("a change id=a version=5 type=apply"));
  EXPECT_TRUE(changes.host.logged("the snapshot is complete"));
}

TEST(RpcEcho, AnswersWithTheRequest) {
  Example echo(RPC_ECHO, {});
  testing::FakeRpc rpc(echo.host.host().service<davit_exec>(DAVIT_EXEC));
  echo.host.add_service(DAVIT_RPC, rpc.table());
  echo.up();
  auto& call = rpc.call("acme.v1.EchoService/Echo", "\x0a\x02hi", "");
  echo.host.run();
  ASSERT_EQ(call.messages.size(), 1u);
  EXPECT_EQ(call.messages[0], "\x0a\x02hi");
  ASSERT_TRUE(call.end);
  EXPECT_EQ(call.end->code, Code::ok);
}

}  // namespace
}  // namespace davit

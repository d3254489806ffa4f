// Going down: what a server tells its callers, and that nothing waits for ever.
#include <atomic>
#include <boost/asio/post.hpp>

#include "rig.hpp"
#include "rpc/connect/loop.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using davit::rpc::End;
using davit::rpc::Handler;
using Reply = davit::rpc::Server::Reply;

std::string trailer(const Outcome& o, std::string_view key) {
  for (const auto& [k, value] : o.trailers) {
    if (k == key) return value;
  }
  return {};
}

// A stream that sends one message and then waits to be asked; `obedient` ones finish then.
class Waiting : public Handler {
 public:
  Waiting(Call c, std::atomic<int>& open, std::atomic<int>& dones, bool obedient)
      : call_(c), open_(open), dones_(dones), obedient_(obedient) {}
  void on_message(Buffer) override {
    ++open_;
    call_.write(std::string("first"));
  }
  void on_cancel() override {
    if (obedient_) call_.finish({Code::unavailable, "stopping"});
  }
  void on_done(const End&) override { ++dones_; }

 private:
  Call call_;
  std::atomic<int>&open_, &dones_;
  bool obedient_;
};

struct Down : Rig {
  std::atomic<int> open{0}, dones{0};
  void serve_waiting(bool obedient) {
    davit::rpc::Method m;
    m.path = "t.v1.S/Wait";
    m.role = "agent";
    m.server_streams = true;
    const auto s = serving();
    const Host host = server.host();
    ASSERT_TRUE(s.serve(m, [this, s, host, obedient](Call call) {
                   s.accept(call, host.strand(),
                            std::make_unique<Waiting>(call, open, dones, obedient));
                   call.read();
                 }).ok());
  }
  std::future<Outcome> wait_on_stream() {
    return std::async(std::launch::async,
                      [this] { return call(client, channel, "t.v1.S/Wait", ""); });
  }
};

TEST(Shutdown, StreamsEndWithUnavailableAndAHint) {
  Down rig;
  rig.serve_waiting(true);
  rig.start("retry_after_ms = 750");
  auto outcome = rig.wait_on_stream();
  ASSERT_TRUE(eventually([&] { return rig.open == 1; }));
  rig.server.rpc.drain();
  const Outcome o = outcome.get();
  EXPECT_EQ(o.code, Code::unavailable);
  EXPECT_EQ(o.message, "control: the server is shutting down");
  EXPECT_EQ(trailer(o, "retry-after-ms"), "750");
  EXPECT_EQ(o.messages, std::vector<std::string>{"first"});
  EXPECT_TRUE(eventually([&] { return rig.dones == 1; }));
}

TEST(Shutdown, ADrainingServerTakesNoNewCall) {
  Down rig;
  rig.serve_waiting(true);
  rig.start();
  rig.server.rpc.drain();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Wait", "");
  EXPECT_EQ(o.code, Code::unavailable);
  EXPECT_EQ(trailer(o, "retry-after-ms"), "1000");
  EXPECT_EQ(rig.open, 0);
}

TEST(Shutdown, ACallInProgressIsAnswered) {
  Down rig;
  std::promise<Reply> came;
  rig.serve_unary("t.v1.S/Slow", "agent",
                  [&](Call, Buffer, Reply reply) { came.set_value(std::move(reply)); });
  rig.start();
  auto outcome = std::async(std::launch::async,
                            [&] { return call(rig.client, rig.channel, "t.v1.S/Slow", ""); });
  const Reply reply = came.get_future().get();
  rig.server.rpc.drain();
  auto stopped = std::async(std::launch::async, [&] { rig.server.stop(std::chrono::seconds(20)); });
  reply(std::string("done"));
  const Outcome o = outcome.get();
  EXPECT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages, std::vector<std::string>{"done"});
  stopped.get();
}

TEST(Shutdown, APluginThatDoesNotFinishIsNotWaitedForLongerThanTheDeadline) {
  Down rig;
  rig.serve_waiting(false);
  rig.start();
  auto outcome = rig.wait_on_stream();
  ASSERT_TRUE(eventually([&] { return rig.open == 1; }));
  const auto began = std::chrono::steady_clock::now();
  rig.server.stop(std::chrono::milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  const Outcome o = outcome.get();
  EXPECT_EQ(o.code, Code::unavailable);
  EXPECT_EQ(rig.dones, 1);  // the plugin was told, before stop returned
}

TEST(Shutdown, AClientThatGoesDownCancelsItsCalls) {
  Down rig;
  rig.serve_waiting(true);
  rig.start();
  auto outcome = rig.wait_on_stream();
  ASSERT_TRUE(eventually([&] { return rig.open == 1; }));
  rig.client.rpc.stop(std::chrono::steady_clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(outcome.get().code, Code::cancelled);
  EXPECT_TRUE(eventually([&] { return rig.dones == 1; }));
}

TEST(Loop, RunsAllThatWasPostedBeforeItStops) {
  const auto loop = std::make_shared<Loop>();
  loop->start();
  int ran = 0;
  boost::asio::post(loop->io(), [&] {
    ++ran;
    boost::asio::post(loop->io(), [&] { ++ran; });
  });
  loop->stop();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(loop.use_count(), 1);
}

TEST(Loop, ThatIsLeftRunsWhatIsPostedUntilTheLastWhoPostsHasGone) {
  auto loop = std::make_shared<Loop>();
  const std::weak_ptr<Loop> left = loop;
  loop->start();
  {
    // As a call has them.
    const std::shared_ptr<Loop> held = std::move(loop);
    const Loop::Work work = held->work();
    held->leave();
    std::promise<void> ran;
    boost::asio::post(held->io(), [&ran, held] { ran.set_value(); });
    ran.get_future().wait();
  }
  EXPECT_TRUE(eventually([&] { return left.expired(); }));
}

TEST(Shutdown, ACallThatIsAcceptedLateIsToldAtOnce) {
  Down rig;
  std::promise<Call> came;
  davit::rpc::Method m;
  m.path = "t.v1.S/Late";
  m.role = "agent";
  m.server_streams = true;
  ASSERT_TRUE(rig.serving().serve(m, [&](Call c) { came.set_value(c); }).ok());
  rig.start();
  auto outcome = std::async(std::launch::async,
                            [&] { return call(rig.client, rig.channel, "t.v1.S/Late", ""); });
  const Call late = came.get_future().get();
  auto stopped =
      std::async(std::launch::async, [&] { rig.server.stop(std::chrono::milliseconds(100)); });
  EXPECT_EQ(outcome.get().code, Code::unavailable);
  rig.serving().accept(late, rig.server.host().strand(),
                       std::make_unique<Waiting>(late, rig.open, rig.dones, true));
  EXPECT_TRUE(eventually([&] { return rig.dones == 1; }));
  stopped.get();
}

}  // namespace
}  // namespace davit::host

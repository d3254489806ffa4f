// The operation of a served call: what a plugin does for the call ends when nobody waits for it.
#include "rig.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

// A method that answers nothing. It keeps the operation of its call.
class Hanging {
 public:
  void operator()(const Call& call) {
    const std::lock_guard lock(mutex_);
    operation_ = call.operation();
    told_.emplace(operation_->op(), [this] { ++cancels_; });
    began_.set_value();
  }
  void wait_until_called() {
    EXPECT_EQ(began_.get_future().wait_for(std::chrono::seconds(90)), std::future_status::ready);
  }
  int cancels() const { return cancels_; }
  int64_t deadline_ns() {
    const std::lock_guard lock(mutex_);
    return operation_.value().deadline_ns();
  }

 private:
  std::mutex mutex_;
  std::optional<Operation> operation_;
  std::optional<OnCancel> told_;
  std::atomic<int> cancels_{0};
  std::promise<void> began_;
};

struct HangingRig : Rig {
  explicit HangingRig(const Operations& operations = {}) {
    davit::rpc::Method m;
    m.path = "t.v1.S/Hang";
    m.role = "agent";
    const auto served = davit::rpc::Server(server.host(), operations)
                            .unary(m, [this](const Call& c, const Buffer&, Reply r) {
                              reply = std::move(r);
                              hanging(c);
                            });
    EXPECT_TRUE(served.ok());
    start();
  }
  // Begins a call of the method. `ended` gets how it ended.
  Call begin(std::promise<davit::rpc::End>& ended, int64_t deadline_ns = INT64_MAX) {
    class Waits : public davit::rpc::Handler {
     public:
      explicit Waits(std::promise<davit::rpc::End>& ended) : ended_(ended) {}
      void on_done(const davit::rpc::End& end) override { ended_.set_value(end); }

     private:
      std::promise<davit::rpc::End>& ended_;
    };
    strand = client.host().strand();
    std::promise<Call> started;
    strand.post([&] {
      const Call call =
          channel.start("t.v1.S/Hang", strand, std::make_unique<Waits>(ended), {}, deadline_ns, 0);
      call.write(std::string("hello"));
      call.half_close();
      call.read();
      started.set_value(call);
    });
    return started.get_future().get();
  }

  Hanging hanging;
  Reply reply;
  Strand strand;
};

TEST(Unary, ItsOperationHasTheDeadlineAndIsCancelledWhenThatPasses) {
  HangingRig rig;
  // It is connected, so the time that there is belongs to the call.
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/None", "").code, Code::unimplemented);
  std::promise<davit::rpc::End> ended;
  rig.begin(ended, (rig.client.host().now() + std::chrono::seconds(2)).count());
  rig.hanging.wait_until_called();
  EXPECT_EQ(ended.get_future().get().code, Code::deadline_exceeded);
  EXPECT_TRUE(eventually([&] { return rig.hanging.cancels() == 1; }));
  EXPECT_LT(rig.hanging.deadline_ns(), INT64_MAX);
}

TEST(Unary, ItsOperationIsCancelledWhenItsCallerCancels) {
  HangingRig rig;
  std::promise<davit::rpc::End> ended;
  const Call call = rig.begin(ended);
  rig.hanging.wait_until_called();
  EXPECT_EQ(rig.hanging.cancels(), 0);
  rig.strand.post([&] { call.cancel(); });
  EXPECT_EQ(ended.get_future().get().code, Code::cancelled);
  EXPECT_TRUE(eventually([&] { return rig.hanging.cancels() == 1; }));
}

TEST(Unary, ItsOperationIsCancelledWhenTheConnectionEnds) {
  HangingRig rig;
  std::promise<davit::rpc::End> ended;
  rig.begin(ended);
  rig.hanging.wait_until_called();
  rig.client.stop(std::chrono::seconds(20));  // until the call has ended
  EXPECT_NE(ended.get_future().get().code, Code::ok);
  EXPECT_TRUE(eventually([&] { return rig.hanging.cancels() == 1; }));
}

TEST(Unary, ItsOperationIsCancelledWhenTheCallHasBeenAnswered) {
  HangingRig rig;
  std::promise<davit::rpc::End> ended;
  rig.begin(ended);
  rig.hanging.wait_until_called();
  rig.reply(std::string("done"));
  EXPECT_EQ(ended.get_future().get().code, Code::ok);
  EXPECT_TRUE(eventually([&] { return rig.hanging.cancels() == 1; }));
}

// The caller has not given up, so it is not told that it has.
TEST(Unary, WhatThePluginsStopCancelsEndsAsUnavailable) {
  const Operations operations;
  HangingRig rig(operations);
  std::promise<davit::rpc::End> ended;
  rig.begin(ended);
  rig.hanging.wait_until_called();
  operations.cancel();
  EXPECT_EQ(rig.hanging.cancels(), 1);
  rig.reply(Error{Code::cancelled, "the caller has given up"});
  const auto end = ended.get_future().get();
  EXPECT_EQ(end.code, Code::unavailable);
  EXPECT_NE(end.message.find("the server is shutting down"), std::string::npos) << end.message;
}

}  // namespace
}  // namespace davit::host

// Requests whose callers give up. No Kubernetes needed.
#include <davit/operation.hpp>

#include "edge.hpp"

namespace davit::cluster_kubernetes {
namespace {

// Takes one connection and answers nothing. It says when the peer has closed the connection.
class SilentPeer {
 public:
  SilentPeer() : socket_(listening(64, port)), thread_([this] { serve(); }) {}
  ~SilentPeer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  uint16_t port = 0;
  std::atomic<bool> asked{false}, closed{false};

 private:
  void serve() {
    const int c = ::accept(socket_, nullptr, nullptr);
    if (c < 0) return;
    char request[4096];
    while (::recv(c, request, sizeof request, 0) > 0) asked = true;
    closed = true;
    ::close(c);
  }
  const int socket_;
  std::thread thread_;
};

const cluster::Request get_a = {"get", config_maps, "default", "a", {}, {}, {}, {}, INT64_MAX};

struct Answers {
  std::atomic<int> count{0};
  std::atomic<int32_t> code{-1};
  void ask(const cluster::Client& client) {
    client.request(get_a, [this](const Response& r) {
      code = static_cast<int32_t>(r.code);
      ++count;
    });
  }
};

TEST_F(Edge, ARequestThatIsCancelledEndsItsTransfer) {
  SilentPeer peer;
  Running running(config(peer.port, {{"request_timeout_ms", 600'000}}));
  const Operation operation;
  Answers answers;
  answers.ask(running.client.under(operation));
  ASSERT_TRUE(running.host.run_until([&] { return peer.asked.load(); }, patience));
  EXPECT_EQ(answers.count, 0);
  operation.cancel();
  EXPECT_TRUE(running.host.run_until([&] { return answers.count == 1; }, patience));
  EXPECT_EQ(answers.code, static_cast<int32_t>(Code::cancelled));
  EXPECT_TRUE(running.host.run_until([&] { return peer.closed.load(); }, patience))
      << "the connection is free for others, and the API server need not answer";
}

TEST_F(Edge, ARequestThatIsCancelledWhileItWaitsForAConnectionIsNeverSent) {
  SilentPeer peer;
  Running running(config(peer.port, {{"request_timeout_ms", 600'000}, {"connections_max", 1}}));
  const Operation first, second;
  Answers of_first, of_second;
  of_first.ask(running.client.under(first));
  ASSERT_TRUE(running.host.run_until([&] { return peer.asked.load(); }, patience));
  of_second.ask(running.client.under(second));
  second.cancel();
  EXPECT_TRUE(running.host.run_until([&] { return of_second.count == 1; }, patience));
  EXPECT_EQ(of_second.code, static_cast<int32_t>(Code::cancelled));
  EXPECT_EQ(of_first.count, 0) << "the request of another caller goes on";
  EXPECT_FALSE(peer.closed);
  first.cancel();
  EXPECT_TRUE(running.host.run_until([&] { return of_first.count == 1; }, patience));
}

}  // namespace
}  // namespace davit::cluster_kubernetes

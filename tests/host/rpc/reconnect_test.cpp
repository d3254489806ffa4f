// When a client that speaks HTTP by itself connects again, and what becomes of its calls meanwhile.
// The server is written by hand: the test says what it answers, and when.
#include <openssl/ssl.h>

#include <fstream>

#include "certificates.hpp"
#include "raw.hpp"

namespace davit::host {
namespace {

constexpr int a_while_ms = 90'000;

bool is_readable(int fd, int patience_ms = a_while_ms) {
  pollfd p = {fd, POLLIN, 0};
  return poll(&p, 1, patience_ms) > 0;
}

// The socket of the server.
class Listening {
 public:
  explicit Listening(int backlog = 16) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(fd_, backlog), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
  }
  ~Listening() { stop(); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  bool is_asked(int patience_ms = a_while_ms) const { return is_readable(fd_, patience_ms); }
  int take() const {
    EXPECT_TRUE(is_asked()) << "nobody connects";
    return accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  }
  // Further connections are refused.
  void stop() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  // Whether somebody asks for a connection and has no answer yet.
  bool keeps_somebody_waiting() const {
    char syn_sent[32];
    std::snprintf(syn_sent, sizeof syn_sent, " 0100007F:%04X 02 ", port_);
    std::ifstream table("/proc/net/tcp");
    for (std::string line; std::getline(table, line);) {
      if (line.find(syn_sent) != std::string::npos) return true;
    }
    return false;
  }

 private:
  int fd_;
  unsigned port_ = 0;
};

// The serving end of one connection.
class Served : public Raw {
 public:
  explicit Served(int accepted) : Raw(accepted) {}
  // Waits for the request with that number.
  void await(char stream) {
    const std::string head = std::string("\1\4\0\0\0", 5) + stream;
    EXPECT_NE(until(head).find(head), std::string::npos);
  }
  // Waits for the whole request with that number, and returns what came.
  std::string await_whole(char stream) {
    const std::string end = std::string("\0\1\0\0\0", 5) + stream;  // DATA with END_STREAM
    std::string came = until(end);
    EXPECT_NE(came.find(end), std::string::npos);
    return came;
  }
  void begin() { send(frame(settings, none, 0, {})); }
  void answer(uint32_t stream) {
    send(frame(headers, end_headers, stream,
               std::string("\x88") + field("content-type", "application/proto")) +
         frame(data, end_stream, stream, "done"));
  }
  // One message, and the end of the stream in a frame with it.
  void answer_with_a_stream(uint32_t stream) {
    const std::string message("\0\0\0\0\4done", 9), end("\2\0\0\0\2{}", 7);
    send(frame(headers, end_headers, stream,
               std::string("\x88") + field("content-type", "application/connect+proto")) +
         frame(data, end_stream, stream, message + end));
  }
  // Says that it takes no more calls. Those that have begun go on.
  void say_goodbye() {
    send(frame(goaway, none, 0, std::string("\x7f\xff\xff\xff", 4) + std::string(4, '\0')));
  }
  // The same, and returns when the client knows. For a connection with a call.
  void leave() {
    const std::string ask = "are you?";
    say_goodbye();
    send(frame(ping, none, 0, ask));
    EXPECT_NE(until(ask).find(ask), std::string::npos);
  }
};

// The server's TLS with the certificate NAME.crt. It agrees on HTTP/2.
class TlsContext {
 public:
  TlsContext(const Folder& folder, const std::string& name) {
    const std::string certificate = folder.path(name + ".crt"), key = folder.path(name + ".key");
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_, certificate.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM), 1);
    SSL_CTX_set_alpn_select_cb(context_, &choose, nullptr);
  }
  ~TlsContext() { SSL_CTX_free(context_); }
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  SSL* connection() const { return SSL_new(context_); }

 private:
  // A client of ours offers HTTP/2 alone.
  static int choose(SSL*, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned, void*) {
    *size = offered[0];
    *out = offered + 1;
    return SSL_TLSEXT_ERR_OK;
  }
  SSL_CTX* const context_ = SSL_CTX_new(TLS_server_method());
};

// The serving end of a connection with TLS.
class TlsServed : public Served {
 public:
  TlsServed(int accepted, const TlsContext& context)
      : Served(accepted), ssl_(context.connection()) {
    SSL_set_fd(ssl_, fd());
    for (int done = 0; done != 1;) {
      done = SSL_accept(ssl_);
      if (done == 1 || (SSL_get_error(ssl_, done) == SSL_ERROR_WANT_READ && is_readable(fd())))
        continue;
      ADD_FAILURE() << "no handshake";
      return;
    }
  }
  ~TlsServed() override { SSL_free(ssl_); }

 private:
  ssize_t put(std::string_view bytes) override {
    return result(SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())));
  }
  ssize_t get(char* to, size_t room) override {
    return result(SSL_read(ssl_, to, static_cast<int>(room)));
  }
  ssize_t result(int n) {
    if (n > 0) return n;
    const int why = SSL_get_error(ssl_, n);
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EIO;
    return -1;
  }
  SSL* ssl_;
};

struct Reconnect : testing::Test {
  Folder folder;
  Side client{"watcher"};
  davit::rpc::Channel channel;

  void start(const std::string& url, const std::string& more = {}) {
    client.configure(
        "[rpc.client.control]\nregion = \"us-east-1\"\ntransport = \"connect\"\n"
        "url = \"" +
        url + "\"\ntoken_file = \"" + folder.write("agent.token", "agent-secret\n") + "\"\n" +
        more);
    channel = client.channel("control");
    const auto wired = client.try_wired();
    ASSERT_TRUE(wired.ok()) << wired.error().message;
  }
  std::future<Outcome> begin_call(
      std::chrono::nanoseconds deadline = std::chrono::nanoseconds::max()) {
    return std::async(std::launch::async, [this, deadline] {
      return call(client, channel, "grpc.health.v1.Health/Check", "", {}, deadline.count());
    });
  }
  static void expect_answered(std::future<Outcome>& call) {
    const Outcome o = call.get();
    EXPECT_EQ(o.code, Code::ok) << o;
    EXPECT_EQ(o.messages, std::vector<std::string>{"done"});
  }
  static void expect_lost(std::future<Outcome>& call) {
    const Outcome o = call.get();
    EXPECT_EQ(o.code, Code::unavailable) << o;
  }
};

// Servers count resets, and cut off who sends many of them.
TEST_F(Reconnect, ACallThatBothEndsHaveEndedIsNotReset) {
  const Listening listening;
  start("http://" + listening.address());
  auto unary = begin_call();
  Served served(listening.take());
  served.begin();
  std::string sent = served.await_whole(1);
  served.answer(1);
  expect_answered(unary);
  auto streaming = std::async(std::launch::async, [this] {
    return call(client, channel, "grpc.health.v1.Health/Watch", "");
  });
  sent += served.await_whole(3);
  served.answer_with_a_stream(3);
  expect_answered(streaming);
  auto last = begin_call();
  sent += served.await_whole(5);
  served.answer(5);
  expect_answered(last);
  for (const char stream : {1, 3}) {
    const auto reset = std::string("\3\0\0\0\0", 5) + stream;
    EXPECT_EQ(sent.find(reset), std::string::npos) << static_cast<int>(stream);
  }
}

TEST_F(Reconnect, ACallDuringAHandshakeDoesNotUseTheConnectionThatHasGone) {
  const Authority authority(folder, "ca");
  authority.issue("server");
  const TlsContext tls(folder, "server");
  const Listening listening;
  start("https://" + listening.address(), "ca_file = \"" + authority.certificate() + "\"\n");
  auto first = begin_call();
  auto old = std::make_unique<TlsServed>(listening.take(), tls);
  old->begin();
  old->await(1);
  old->leave();
  auto second = begin_call();
  const int accepted = listening.take();
  ASSERT_TRUE(is_readable(accepted)) << "no handshake has begun";
  old.reset();
  expect_lost(first);
  // It ends while the handshake waits.
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  auto third = begin_call(soon.time_since_epoch());
  EXPECT_EQ(third.get().code, Code::deadline_exceeded);
  TlsServed next(accepted, tls);
  next.begin();
  next.await(1);
  next.answer(1);
  expect_answered(second);
}

TEST_F(Reconnect, ThatIsRefusedLeavesTheCallsThatTheServerLetsFinish) {
  Listening listening;
  start("http://" + listening.address());
  auto first = begin_call();
  Served old(listening.take());
  old.begin();
  old.await(1);
  old.leave();
  listening.stop();
  auto second = begin_call();
  expect_lost(second);
  old.answer(1);
  expect_answered(first);
}

TEST_F(Reconnect, GoesOnWhenTheConnectionThatItReplacesCloses) {
  // Room for one connection that is not accepted.
  const Listening listening(0);
  start("http://" + listening.address());
  auto first = begin_call();
  auto old = std::make_unique<Served>(listening.take());
  old->begin();
  old->await(1);
  old->leave();
  const Raw in_the_way(listening.address());
  ASSERT_TRUE(listening.is_asked());
  auto second = begin_call();
  ASSERT_TRUE(eventually([&] { return listening.keeps_somebody_waiting(); }));
  old.reset();
  expect_lost(first);
  close(listening.take());
  Served next(listening.take());
  next.begin();
  next.await(1);
  next.answer(1);
  expect_answered(second);
}

TEST_F(Reconnect, WaitsAfterAConnectionOnWhichTheServerSaidNothing) {
  const Listening listening;
  start("http://" + listening.address());
  // The pauses grow up to seconds. So most calls fall into one, however slow the machine is.
  constexpr int calls = 50;
  int connections = 0;
  for (int i = 0; i < calls; ++i) {
    auto lost = begin_call();
    constexpr int look_ms = 5;
    while (lost.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      if (!listening.is_asked(look_ms)) continue;
      close(listening.take());
      ++connections;
    }
    expect_lost(lost);
  }
  EXPECT_GT(connections, 0);
  EXPECT_LT(connections, calls);
}

TEST_F(Reconnect, DoesNotWaitAfterAConnectionOnWhichTheServerAnswered) {
  const Listening listening;
  start("http://" + listening.address());
  for (int i = 0; i < 5; ++i) {
    auto answered = begin_call();
    Served server(listening.take());
    server.begin();
    server.await(1);
    server.answer(1);
    expect_answered(answered);
    server.say_goodbye();
    EXPECT_TRUE(server.is_closed());
  }
}

}  // namespace
}  // namespace davit::host

// Servers that are not there, never answer, or talk nonsense. No Kubernetes needed.
#include "edge.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace davit::cluster_kubernetes {
namespace {

// Does not even take connections: its queue has room for one, which is there, and the kernel
// ignores all others.
class FullServer {
 public:
  FullServer()
      : socket_(listening(0, port)), first_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback(port);
    pollfd queued{socket_, POLLIN, 0};
    if (::connect(first_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::poll(&queued, 1, 30'000) != 1) {
      throw std::runtime_error("no connection");
    }
  }
  ~FullServer() {
    ::close(first_);
    ::close(socket_);
  }
  uint16_t port = 0;

 private:
  const int socket_;
  const int first_;
};

TEST_F(Edge, NobodyListensIsUnavailableAndSaid) {
  uint16_t port = 0;
  { port = Server().port; }
  Running running(config(port));
  ASSERT_TRUE(running.up.ok());
  const auto r = running.get("a");
  EXPECT_EQ(r.code, Code::unavailable);
  EXPECT_EQ(r.http_status, 0);
  EXPECT_NE(r.message.find("connect"), std::string::npos) << r.message;
  Seen seen(running, watching(), 10);
  EXPECT_TRUE(seen.wait_trouble());
  EXPECT_EQ(seen.count(), 1u);
  EXPECT_TRUE(running.host.logged("the API server does not answer"));
  EXPECT_TRUE(running.instance.stop().ok());
  EXPECT_EQ(seen.ended(), 1);
  EXPECT_EQ(running.get("a").code, Code::unavailable);
}

TEST_F(Edge, CheckSaysWhyItWouldNotWork) {
  Server server(
      http("403 Forbidden", R"({"kind":"Status","reason":"Forbidden","message":"you may not"})"));
  testing::TestHost host("cluster", config(server.port));
  testing::Instance instance(plugin(), host);
  ASSERT_TRUE(instance.create().ok());
  const auto r = instance.check();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::permission_denied);
  EXPECT_EQ(r.error().message,
            "kubeconfig \"" + directory.path() + "/kubeconfig\", context \"x\": you may not");
}

TEST_F(Edge, WhileItIsCheckedItAnswersWhatItsNeighboursAsk) {
  Server server(http("200 OK", "{}"));
  testing::TestHost host("cluster", config(server.port));
  testing::Instance instance(plugin(), host);
  ASSERT_TRUE(instance.create().ok());
  ASSERT_TRUE(instance.check().ok());
  std::optional<Response> answer;
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = config_maps;
  cluster::Client(instance.ref(DAVIT_CLUSTER)).request(q, [&](Response r) { answer = r; });
  ASSERT_TRUE(answer) << "before request returns: nothing runs in the background";
  EXPECT_EQ(answer->code, Code::ok);
}

TEST_F(Edge, CredentialsThatAreNotAcceptedAreNoServing) {
  Server server(http("401 Unauthorized",
                     R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized"})"));
  Running running(config(server.port));
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  EXPECT_TRUE(running.host.run_until([&] { return running.host.health() == DAVIT_HEALTH_DEGRADED; },
                                     patience));
  EXPECT_EQ(running.host.health_reason(),
            "the API server does not accept the credentials (401): Unauthorized");
}

TEST_F(Edge, HealthHasTheNewestReasonOfAServerThatDoesNotAnswer) {
  uint16_t port = 0;
  const int socket = bound(port);
  Running running(config(port));
  const auto health_says = [&](const std::string& part) {
    return running.host.run_until(
        [&] { return running.host.health_reason().find(part) != std::string::npos; }, patience);
  };
  EXPECT_EQ(running.get("a").code, Code::unavailable);
  EXPECT_TRUE(health_says("failed to connect")) << running.host.health_reason();
  const Server server(socket, "nonsense\r\n\r\n");
  EXPECT_EQ(running.get("a").code, Code::unavailable);
  EXPECT_TRUE(health_says("HTTP/0.9")) << running.host.health_reason();
}

TEST_F(Edge, AKubeconfigThatWasReplacedIsReadAgainWhenItDoesNotGetUsIn) {
  Server old(http("401 Unauthorized", R"({"kind":"Status","message":"expired"})"));
  Server present(http("200 OK", "{}"));
  Running running(config(old.port));
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  (void)config(present.port);
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
  EXPECT_TRUE(running.host.logged("the access to the API server has changed"));
}

TEST_F(Edge, ATokenFileThatCannotBeReadIsSaidOnceAndSoIsItsReturn) {
  Server server(http("401 Unauthorized", R"({"kind":"Status","message":"expired"})"));
  const std::string token = directory.path() + "/token";
  std::ofstream(token) << "abc";
  Running running(config(server.port, {}, "tokenFile: '" + token + "'"));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  std::filesystem::remove(token);
  // After each 401 the file is read again.
  for (int i = 0; i < 4; ++i) EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  const auto log = running.host.log();
  EXPECT_EQ(std::count_if(log.begin(), log.end(),
                          [](const auto& line) {
                            return line.message.starts_with("the bearer token cannot be read");
                          }),
            1);
  std::ofstream(token) << "def";
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  EXPECT_TRUE(running.host.logged("the bearer token can be read again"));
}

TEST_F(Edge, AWorkingDirectoryThatIsGoneEndsNothing) {
  Server server(http("401 Unauthorized", R"({"kind":"Status","message":"expired"})"));
  (void)config(server.port);
  (void)plugin();  // from where it is
  const auto before = std::filesystem::current_path();
  const std::string place = directory.path() + "/place";
  std::filesystem::create_directory(place);
  std::filesystem::rename(directory.path() + "/kubeconfig", place + "/kubeconfig");
  std::filesystem::current_path(place);
  ::setenv("KUBECONFIG", "kubeconfig", 1);
  {
    Running running{Config()};
    EXPECT_TRUE(running.up.ok()) << running.up.error().message;
    std::filesystem::remove_all(place);
    EXPECT_EQ(running.get("a").code, Code::unauthenticated);
    EXPECT_TRUE(running.host.run_until(
        [&] { return running.host.logged("the access to the API server cannot be read again"); },
        patience));
    EXPECT_EQ(running.get("a").code, Code::unauthenticated) << "it goes on with what it read";
    EXPECT_NE(created(Config()).find("$KUBECONFIG is relative"), std::string::npos);
  }
  ::unsetenv("KUBECONFIG");
  std::filesystem::current_path(before);
}

TEST_F(Edge, AWatchThatIsRefusedIsNoServing) {
  Server server(
      http("403 Forbidden", R"({"kind":"Status","reason":"Forbidden","message":"you may not"})"));
  Running running(config(server.port));
  Seen seen(running, watching(), 10);
  EXPECT_TRUE(seen.wait_for("!403 Forbidden: you may not")) << seen.text();
  EXPECT_TRUE(running.host.run_until([&] { return running.host.health() == DAVIT_HEALTH_DEGRADED; },
                                     patience));
  EXPECT_EQ(running.host.health_reason(), "the API server refuses a watch: you may not");
}

// Takes a request in, and then the connection is gone: what a server does that had it idle for
// long.
TEST_F(Edge, AKeptConnectionThatIsDeadIsNoOutage) {
  Server server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Server::Then::reset_the_next);
  Running running(config(server.port));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(running.get("a").code, Code::ok);
    EXPECT_EQ(running.apply("a", "v").code, Code::ok) << "on a connection that was used before";
  }
  EXPECT_GT(server.connections, 1);
  EXPECT_FALSE(running.host.logged("the API server does not answer"));
}

// Answers a request of each of `first` connections once all have come. From then on it takes what
// comes from these and answers nothing, as behind a link that was cut; new ones it answers.
class HalfOpen {
 public:
  explicit HalfOpen(size_t first) : first_(first), socket_(listening(64, port)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~HalfOpen() {
    stopping_ = true;
    thread_.join();
    for (const pollfd& c : all_) ::close(c.fd);
  }
  uint16_t port = 0;

 private:
  void serve() {
    all_ = {{socket_, POLLIN, 0}};
    while (!stopping_) {
      if (::poll(all_.data(), all_.size(), 20) <= 0) continue;
      for (size_t i = all_.size(); i-- > 1;) {
        if (all_[i].revents != 0) read(i);
      }
      if (all_[0].revents != 0) all_.push_back({::accept(socket_, nullptr, nullptr), POLLIN, 0});
    }
  }
  void read(size_t i) {
    char request[4096];
    if (::recv(all_[i].fd, request, sizeof request, 0) <= 0) {
      all_[i].fd = -all_[i].fd;  // poll passes over it
      return;
    }
    asked_.insert(i);
    if (i > first_) return answer(i);
    if (!cut_ && asked_.size() == first_) {
      cut_ = true;
      for (const size_t each : asked_) answer(each);
    }
  }
  void answer(size_t i) {
    constexpr std::string_view text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    ::send(all_[i].fd, text.data(), text.size(), MSG_NOSIGNAL);
  }
  const size_t first_;
  int socket_;
  bool cut_ = false;
  std::set<size_t> asked_;
  std::vector<pollfd> all_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

TEST_F(Edge, OneTimeOutIsEnoughForAllConnectionsThatAreHalfOpen) {
  constexpr int connections = 6;
  HalfOpen server(connections);
  Running running(config(server.port, {{"request_timeout_ms", 3'000}}));
  std::atomic<int> fine{0};
  for (int i = 0; i < connections; ++i) {
    running.client.request({"get",
                            config_maps,
                            "default",
                            "a",
                            {},
                            {},
                            {},
                            {},
                            (running.host.now() + patience).count()},
                           [&](const Response& r) { fine += r.code == Code::ok ? 1 : 0; });
  }
  ASSERT_TRUE(running.host.run_until([&] { return fine == connections; }, patience));
  // libcurl counts the age of connections in seconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(2'200));
  EXPECT_EQ(running.get("a").code, Code::deadline_exceeded);
  for (int i = 0; i < 2 * connections; ++i) EXPECT_EQ(running.get("a").code, Code::ok) << i;
}

TEST_F(Edge, AServerThatNeverAnswersIsATimeOut) {
  Server silent;
  Running running(config(silent.port, {{"request_timeout_ms", 200}, {"connections_max", 1}}));
  EXPECT_EQ(running.get("a").code, Code::deadline_exceeded);
  Seen seen(running, watching(), 10);
  EXPECT_TRUE(seen.wait_trouble());
  // Those that wait behind it end at their own deadline, not when it is their turn.
  std::atomic<int> late{0};
  for (int i = 0; i < 100; ++i) {
    running.client.request(
        {"get",
         config_maps,
         "default",
         "a",
         {},
         {},
         {},
         {},
         (running.host.now() + std::chrono::milliseconds(50)).count()},
        [&](const Response& r) { late += r.code == Code::deadline_exceeded ? 1 : 0; });
  }
  EXPECT_TRUE(running.host.run_until([&] { return late == 100; }, std::chrono::seconds(10)));
}

TEST_F(Edge, AnAttemptToConnectEndsAfterConnectTimeout) {
  FullServer full;
  Running running(config(full.port, {{"connect_timeout_ms", 100}}));
  const auto before = running.host.now();
  EXPECT_EQ(running.get("a").code, Code::deadline_exceeded);
  EXPECT_LT(running.host.now() - before, std::chrono::seconds(4)) << "the default is 5 s";
}

TEST_F(Edge, AWatchThatIsSilentForWatchIdleTimeoutIsConnectedAgain) {
  Server silent("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", Server::Then::reset_the_next);
  Running running(config(silent.port, {{"watch_idle_timeout_ms", 1'500}}));
  const auto before = running.host.now();
  Seen seen(running, watching(), 10);
  EXPECT_TRUE(
      running.host.run_until([&] { return silent.connections > 1; }, std::chrono::seconds(30)));
  EXPECT_GE(running.host.now() - before, std::chrono::milliseconds(1'500));
}

TEST_F(Edge, RetryAfterIsPassedOn) {
  Server server(http("429 Too Many Requests",
                     R"({"kind":"Status","reason":"TooManyRequests","message":"busy"})",
                     "Retry-After: 3\r\n"));
  Running running(config(server.port));
  const auto r = running.get("a");
  EXPECT_EQ(r.code, Code::resource_exhausted);
  EXPECT_EQ(r.retry_after, std::chrono::seconds(3));
  EXPECT_EQ(r.message, "busy");
}

TEST_F(Edge, NonsenseIsSurvived) {
  const std::vector<std::string> answers = {
      std::string("\0\1\2garbage\r\n\r\n", 14),
      "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{\"a\":",
      http("200 OK",
           "not json at all\n{\"type\":\"ADDED\"}\n{\"type\":\"ADDED\",\"object\":[]}\n\n\n{{{{{"),
      http("200 OK", std::string(100'000, '{')),
      http("200 OK", std::string(5'000, '\n')),
      http("302 Found", "", "Location: http://127.0.0.1:1/\r\n"),
      http("500 Oops", "{\"kind\":\"Status\",\"code\":"),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
  };
  for (const auto& answer : answers) {
    Server server(answer);
    Running running(config(server.port, {{"event_bytes_max", 1'024}, {"backoff_max_ms", 100}}));
    ASSERT_TRUE(running.up.ok());
    running.get("a");
    std::promise<Response> discovered;
    running.client.discover("apps", "", "ReplicaSet",
                            [&](Response r) { discovered.set_value(std::move(r)); });
    EXPECT_NE(discovered.get_future().get().code, Code::ok) << answer.substr(0, 60);
    Seen seen(running, watching(), 1'000);
    EXPECT_TRUE(running.host.run_until([&] { return server.connections > 5; }, patience))
        << answer.substr(0, 60);
    const auto r = running.instance.stop();
    EXPECT_TRUE(r.ok());
    EXPECT_EQ(seen.ended(), 1);
  }
}

TEST_F(Edge, AnAnswerAboveTheLimitIsRefused) {
  Server server(http("200 OK", std::string(10'000, 'x')));
  Running running(config(server.port, {{"response_bytes_max", 2'000}}));
  const auto r = running.get("a");
  EXPECT_EQ(r.code, Code::resource_exhausted);
  EXPECT_EQ(r.message, "the answer has more than 2000 bytes (response_bytes_max)");
}

TEST_F(Edge, EventsAboveTheLimitAreLeftOutAndSaid) {
  Server server(http("200 OK", R"({"type":"ADDED","object":{"metadata":{"name":")" +
                                   std::string(5'000, 'x') + "\"}}}\n"));
  Running running(config(server.port, {{"event_bytes_max", 2'000}}));
  Seen seen(running, watching(), 10);
  EXPECT_TRUE(seen.wait_for("!an event of more than 2000 bytes was left out (event_bytes_max)"))
      << seen.text();
}

TEST_F(Edge, SettingsThatCannotWorkAreRefused) {
  EXPECT_NE(created({{"kubeconfig", "/nowhere/config"}}).find("kubeconfig \"/nowhere/config\": "),
            std::string::npos);
  const auto missing = created(config(1, {{"context", "foo"}}));
  EXPECT_EQ(missing, "kubeconfig \"" + directory.path() +
                         "/kubeconfig\": context \"foo\" does not exist (there are: x)");
  EXPECT_NE(created(config(1, {{"connections_max", 0}})).find("must be between 1 and 1000, not 0"),
            std::string::npos);
  EXPECT_NE(created(config(1, {{"in_cluster", true}})).find("cannot be true beside `kubeconfig`"),
            std::string::npos);
  const auto token = created(config(1, {}, "tokenFile: gone"));
  EXPECT_NE(token.find("user \"u\": tokenFile: "), std::string::npos) << token;
}

TEST_F(Edge, HeadersThatBreakOutAreRefused) {
  Running running(config(1));
  EXPECT_EQ(
      running
          .ask({"get", config_maps, "default", "a", {}, {}, {{"x", "a\r\nEvil: 1"}}, {}, INT64_MAX})
          .code,
      Code::invalid_argument);
}

}  // namespace
}  // namespace davit::cluster_kubernetes

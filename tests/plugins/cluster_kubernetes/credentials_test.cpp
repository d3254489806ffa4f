// The whole plugin with an exec plugin, against a server that accepts one token.
#include <sys/stat.h>

#include <set>

#include "edge.hpp"

namespace davit::cluster_kubernetes {
namespace {

// Answers 200 to who shows the token that it accepts at present, and 401 to others.
class TokenServer {
 public:
  TokenServer() : socket_(listening(64, port)), thread_([this] { serve(); }) {}
  ~TokenServer() {
    stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  void accept_only(const std::string& token) {
    const std::lock_guard lock(mutex_);
    accepted_ = "Authorization: Bearer " + token + "\r\n";
  }
  // The requests that were answered with 200 and those with 401, each by its headers.
  std::vector<std::string> good() {
    const std::lock_guard lock(mutex_);
    return good_;
  }
  size_t refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  uint16_t port = 0;

 private:
  void serve() {
    while (!stopping_) {
      const int c = ::accept(socket_, nullptr, nullptr);
      if (c < 0) continue;
      std::string text;
      char piece[4096];
      ssize_t n = 0;
      while (text.find("\r\n\r\n") == std::string::npos &&
             (n = ::recv(c, piece, sizeof piece, 0)) > 0)
        text.append(piece, static_cast<size_t>(n));
      const std::string answer = answer_to(text);
      (void)!::send(c, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(c);
    }
  }
  std::string answer_to(const std::string& request) {
    const std::lock_guard lock(mutex_);
    const bool in = request.find(accepted_) != std::string::npos;
    if (in) {
      good_.push_back(request);
    } else {
      ++refused_;
    }
    return std::string(in ? "HTTP/1.1 200 OK" : "HTTP/1.1 401 Unauthorized") +
           "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
  }
  int socket_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::string accepted_;
  std::vector<std::string> good_;
  size_t refused_ = 0;
  std::thread thread_;
};

class Exec : public Edge {
 protected:
  // The exec plugin is a script of the test. `runs()` is how often it has run.
  Config with(const std::string& script, std::initializer_list<Config::Entry> more = {}) {
    write(script);
    return config(server.port, more,
                  "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
                  "command: ./login, args: [get-token]}");
  }
  void write(const std::string& script) {
    const std::string path = directory.path() + "/login", draft = path + ".new";
    std::ofstream(draft)
        << "#!/bin/sh\ncd '" << directory.path() << "'\necho run >>runs\n"
        << "token() { echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
           "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"'$1'\"'$2'}}'"
           "; }\n"
        << script << "\n";
    ::chmod(draft.c_str(), 0700);
    std::rename(draft.c_str(), path.c_str());
  }
  size_t runs() const {
    std::ifstream in(directory.path() + "/runs");
    size_t out = 0;
    for (std::string line; std::getline(in, line);) ++out;
    return out;
  }
  TokenServer server;
};

TEST_F(Exec, ItsTokenIsUsedForAllAndItRunsOnce) {
  server.accept_only("abc");
  Running running(with("sleep 0.2; [ \"$1\" = get-token ] && token abc"));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  std::atomic<int> good{0};
  for (int i = 0; i < 20; ++i) {
    running.client.request(Running::apply_request("a", "1", "default"),
                           [&](const Response& r) { good += r.code == Code::ok; });
  }
  EXPECT_TRUE(running.host.run_until([&] { return good == 20; }, patience));
  EXPECT_EQ(running.get("a").code, Code::ok);
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(server.refused(), 0u);
}

TEST_F(Exec, ARefusedTokenIsMadeAnewAndNobodyNotices) {
  server.accept_only("one");
  Running running(with("token $(cat token)"));
  std::ofstream(directory.path() + "/token") << "one";
  EXPECT_EQ(running.get("a").code, Code::ok);
  std::ofstream(directory.path() + "/token") << "two";
  server.accept_only("two");
  cluster::Request created = Running::apply_request("a", "1", "default");
  created.verb = DAVIT_VERB_CREATE;
  EXPECT_EQ(running.ask(created).code, Code::ok) << "also what is otherwise never sent twice";
  EXPECT_EQ(runs(), 2u);
  EXPECT_FALSE(running.host.logged("the API server does not accept the credentials"));
}

TEST_F(Exec, AServerThatRefusesEveryTokenIsBelieved) {
  Running running(with("token wrong"));
  server.accept_only("right");
  const auto begin = running.host.now();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  // A second later at the soonest, it tries again.
  const auto seconds = static_cast<size_t>((running.host.now() - begin) / std::chrono::seconds(1));
  EXPECT_GE(runs(), 2u);
  EXPECT_LE(runs(), 2u + seconds) << "once more, and not for each request";
}

TEST_F(Exec, ATokenThatExpiresIsMadeAnewBeforeItIsRefused) {
  server.accept_only("abc");
  Running running(with("token abc ',\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"'"));
  EXPECT_EQ(running.get("a").code, Code::ok) << "used, though its clock is wrong";
  EXPECT_TRUE(running.host.run_until(
      [&] { return running.get("a").code == Code::ok && runs() == 2; }, patience));
  EXPECT_EQ(server.refused(), 0u);
}

TEST_F(Exec, WhatGoesWrongIsSaidWithTheProgramsOwnWords) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"echo 'no credentials' >&2; echo 'run: aws sso login' >&2; exit 255",
       "it ended with exit code 255; it says: no credentials run: aws sso login"},
      {"echo rubbish", "its answer is no JSON object"},
      {"head -c 100000 /dev/zero", "it wrote more than 65536 bytes"},
      {"sleep 600", "it took longer than 300 ms"},
      {"echo password: >/dev/tty || exit 7", "it ended with exit code 7; it says: "},
  };
  for (const auto& [script, expected] : rows) {
    // The others have time to start, however busy the machine is.
    const int64_t limit = script.starts_with("sleep") ? 300 : 60'000;
    Running running(with(script, {{"exec_timeout_ms", limit}}));
    ASSERT_TRUE(running.up.ok());
    const auto r = running.get("a");
    EXPECT_EQ(r.code, Code::unauthenticated);
    EXPECT_EQ(r.http_status, 0);
    EXPECT_TRUE(
        r.message.starts_with("exec plugin \"" + directory.path() + "/./login\": " + expected))
        << r.message;
    EXPECT_EQ(running.host.health(), DAVIT_HEALTH_DEGRADED);
    Seen seen(running, watching(), 10);
    EXPECT_TRUE(seen.wait_trouble());
  }
  EXPECT_EQ(server.good().size() + server.refused(), 0u) << "nothing is sent without credentials";
}

TEST_F(Exec, AFailureEndsWhenThePluginWorksAgain) {
  server.accept_only("abc");
  Running running(with("exit 1"));
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  write("token abc");
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
  EXPECT_TRUE(running.host.logged("the kubeconfig's exec plugin works again"));
  EXPECT_TRUE(running.host.run_until([&] { return running.host.health() == DAVIT_HEALTH_SERVING; },
                                     patience));
}

TEST_F(Exec, StoppingDoesNotWaitForIt) {
  Running running(with("exec sleep 600"));
  std::atomic<bool> answered{false};
  running.client.request(Running::apply_request("a", "1", "default"),
                         [&](const Response&) { answered = true; });
  EXPECT_TRUE(running.host.run_until([&] { return runs() == 1; }, patience));
  EXPECT_TRUE(running.instance.stop().ok());
  EXPECT_TRUE(answered);
}

TEST_F(Exec, APluginThatIsNotInstalledIsNamedWithItsHint) {
  Running running(config(server.port, {},
                         "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "
                         "no-such-login, installHint: \"get it\\nthere\"}"));
  const auto r = running.get("a");
  EXPECT_EQ(r.message,
            "exec plugin \"no-such-login\": it could not be started: No such file or directory; "
            "get it there");
}

TEST_F(Exec, AnotherPluginInTheFileIsUsedAtOnce) {
  server.accept_only("new");
  Running running(with("token old"));
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  (void)config(server.port, {}, "token: new");
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
}

TEST_F(Exec, AFileThatIsHalfWrittenLeavesWhatThereWas) {
  server.accept_only("abc");
  Running running(config(server.port, {}, "token: abc"));
  EXPECT_EQ(running.get("a").code, Code::ok);
  std::ofstream(directory.path() + "/kubeconfig") << "current-context: x\nclusters: [{na";
  EXPECT_TRUE(running.host.run_until(
      [&] { return running.host.logged("the access to the API server cannot be read again"); },
      patience));
  EXPECT_EQ(running.get("a").code, Code::ok);
  (void)config(server.port, {}, "token: two");
  server.accept_only("two");
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
  EXPECT_TRUE(running.host.logged("the access to the API server can be read again"));
}

TEST_F(Exec, RequestsSayAsWhomTheyAreCarriedOut) {
  server.accept_only("abc");
  {
    Running running(config(server.port, {}, "token: abc, as: jane, as-groups: [dev, ops]"));
    EXPECT_EQ(running.get("a").code, Code::ok);
  }
  Running running(config(server.port,
                         {{"impersonate_user", "joe"},
                          {"impersonate_uid", "u-7"},
                          {"impersonate_groups", std::vector<std::string>{"web"}},
                          {"impersonate_extra.reason", "night shift"}},
                         "token: abc, as: jane, as-groups: [dev]"));
  EXPECT_EQ(running.get("a").code, Code::ok);
  const auto seen = server.good();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NE(seen[0].find("Impersonate-User: jane\r\nImpersonate-Group: dev\r\n"
                         "Impersonate-Group: ops\r\n"),
            std::string::npos);
  EXPECT_NE(seen[1].find("Impersonate-User: joe\r\nImpersonate-Uid: u-7\r\n"
                         "Impersonate-Group: web\r\nImpersonate-Extra-reason: night shift\r\n"),
            std::string::npos);
  EXPECT_EQ(seen[1].find("Impersonate-Group: dev"), std::string::npos) << "that is jane's";
}

}  // namespace
}  // namespace davit::cluster_kubernetes

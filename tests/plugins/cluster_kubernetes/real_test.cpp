// Against a real API server ($KUBECONFIG; its rig's folder in $DAVIT_TEST_KUBERNETES): what the
// suite of the role does not show. Run through with_kubernetes.py.
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "fixture.hpp"

namespace davit::cluster_kubernetes {
namespace {

std::string environment(const char* name) {
  const char* v = std::getenv(name);
  return v == nullptr ? "" : v;
}
std::string content(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  std::string s = out.str();
  while (!s.empty() && s.back() == '\n') s.pop_back();
  return s;
}
void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

class Real : public ::testing::Test {
 protected:
  void SetUp() override {
    if (environment("KUBECONFIG").empty())
      GTEST_SKIP() << "no API server: run by with_kubernetes.py";
  }
  Config config(std::initializer_list<Config::Entry> more = {}) {
    Config c(more);
    c.set({"kubeconfig", environment("KUBECONFIG")});
    return c;
  }
};

// Needs the files of the rig.
class Rig : public Real {
 protected:
  void SetUp() override {
    Real::SetUp();
    if (environment("DAVIT_TEST_KUBERNETES").empty() && !IsSkipped()) {
      GTEST_SKIP() << "needs the rig of tests/kubernetes (DAVIT_TEST_KUBERNETES)";
    }
    if (IsSkipped()) return;
    rig = environment("DAVIT_TEST_KUBERNETES");
    const std::string text = content(rig + "/kubeconfig");
    const size_t at = text.find("server: ");
    url = text.substr(at + 8, text.find('\n', at) - at - 8);
    std::erase(url, '"');
  }
  // A kubeconfig of the test's own.
  Config with(const std::string& cluster, const std::string& user) {
    const std::string path = directory.path() + "/kubeconfig";
    write(path, "current-context: x\nclusters: [{name: c, cluster: {server: '" + url + "', " +
                    cluster + "}}]\nusers: [{name: u, user: {" + user +
                    "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n");
    return {{"kubeconfig", path}};
  }
  std::string ca() const { return "certificate-authority: '" + rig + "/ca.crt'"; }
  std::string certificate() const {
    return "client-certificate: '" + rig + "/client.crt', client-key: '" + rig + "/client.key'";
  }
  std::string check(const Config& c) {
    testing::TestHost host("cluster", c);
    testing::Instance instance(plugin(), host);
    auto r = instance.create();
    if (r.ok()) r = instance.check();
    return r.ok() ? "ok" : r.error().message;
  }
  int run(const std::string& command) {
    return std::system(
        ("python3 " DAVIT_TEST_RIG " " + command + " --dir " + rig + " >/dev/null").c_str());
  }
  std::string rig, url;
  testing::TemporaryDirectory directory;
};

TEST_F(Rig, ClientCertificatesAndTokensAreAccepted) {
  EXPECT_EQ(check(config()), "ok");
  EXPECT_EQ(check({{"kubeconfig", rig + "/kubeconfig-token"}}), "ok");
  EXPECT_EQ(check(with(ca(), certificate())), "ok");
  EXPECT_EQ(check(with(ca(), "tokenFile: '" + rig + "/token'")), "ok");
  EXPECT_EQ(check(with(ca() + ", tls-server-name: localhost", certificate())), "ok");
  EXPECT_EQ(check(with("insecure-skip-tls-verify: true", certificate())), "ok");
}

TEST_F(Rig, WhoCannotBeTrustedIsRefused) {
  const std::string system_ca = check(with("proxy-url: ''", certificate()));
  EXPECT_NE(system_ca.find("certificate"), std::string::npos) << system_ca;
  EXPECT_NE(system_ca.find("kubeconfig \"" + directory.path()), std::string::npos) << system_ca;
  const std::string name =
      check(with(ca() + ", tls-server-name: elsewhere.example", certificate()));
  EXPECT_NE(name.find("elsewhere.example"), std::string::npos) << name;
  const std::string token = check(with(ca(), "token: wrong"));
  EXPECT_NE(token.find("Unauthorized"), std::string::npos) << token;
}

TEST_F(Rig, TokenFileIsReadAgain) {
  const std::string file = directory.path() + "/token";
  write(file, "wrong");
  Running running(with(ca(), "tokenFile: '" + file + "'"));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  EXPECT_EQ(running.get("x").code, Code::unauthenticated);
  write(file, content(rig + "/token") + "\n");
  EXPECT_EQ(running.get("x").code, Code::not_found);
  write(file, "not a token");  // half written, say: the last good one stays in use
  EXPECT_TRUE(running.host.run_until([&] {
    return running.get("x").code == Code::not_found &&
           running.host.logged("the bearer token cannot be read");
  }));
  EXPECT_EQ(running.get("x").code, Code::not_found);
}

TEST_F(Real, AnOldVersionIsGoneAndTheWatchBeginsAnew) {
  Running running(config());
  running.apply("gone-a", "1");
  Seen seen(running, watching("1"), 1000);
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  EXPECT_TRUE(seen.text().starts_with("RESTART, ")) << seen.text();
  EXPECT_TRUE(seen.wait_state("gone-a", "1"));
  running.remove("gone-a");
}

TEST_F(Real, ListAndWatchDeliversWhatStreamingDoes) {
  Running running(config({{"streaming_lists", false}, {"watch_buffer_bytes", 50'000}}));
  constexpr int count = 620;  // more than a page
  std::atomic<int> done{0};
  for (int i = 0; i < count; ++i) {
    running.client.request(Running::apply_request("page-" + std::to_string(i), "1", "default"),
                           [&](const Response& r) { done += r.code == Code::ok ? 1 : 0; });
  }
  ASSERT_TRUE(running.host.run_until([&] { return done == count; }, patience));
  {
    Seen seen(running, watching(), 100);
    ASSERT_TRUE(seen.wait([&] { return seen.events.size() == 100; }));
    seen.watch.credit(10'000);
    ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
    running.apply("page-7", "2");
    EXPECT_TRUE(seen.wait_state("page-7", "2"));
    EXPECT_TRUE(seen.wait([&] { return seen.state.size() == count; }));
    EXPECT_TRUE(seen.wait([&] { return seen.events.size() == count + 3; })) << seen.count();
  }
  Running streaming(config());
  Seen seen(streaming, watching(), 10'000);
  ASSERT_TRUE(seen.wait_for("SYNCED"));
  EXPECT_TRUE(seen.wait([&] { return seen.state.size() == count; }));
  done = 0;
  for (int i = 0; i < count; ++i) {
    running.client.request(
        {"delete", config_maps, "default", "page-" + std::to_string(i), {}, {}, {}, {}, INT64_MAX},
        [&](const Response& r) { done += r.code == Code::ok ? 1 : 0; });
  }
  ASSERT_TRUE(running.host.run_until([&] { return done == count; }, patience));
  EXPECT_TRUE(seen.wait([&] { return seen.state.empty(); }));
}

TEST_F(Real, WhatIsLargeComesCompressed) {
  Running running(config());
  const std::string big(300'000, 'x');
  ASSERT_EQ(running.apply("compressed", big).code, Code::ok);
  const auto received = [&](const Config& c) {
    Running reader(c);
    const auto r = reader.get("compressed");
    EXPECT_EQ(r.code, Code::ok);
    EXPECT_NE(r.body.find("\"" + big + "\""), std::string::npos);
    EXPECT_TRUE(reader.host.run_until(
        [&] { return reader.host.metric("davit_cluster_received_bytes_total") > 0; }, patience));
    return reader.host.metric("davit_cluster_received_bytes_total");
  };
  EXPECT_LT(received(config()), 30'000);
  EXPECT_GT(received(config({{"compression", false}})), 300'000);
  running.remove("compressed");
}

TEST_F(Real, ReadingPausesWithoutCreditAndNothingIsLost) {
  Running running(config({{"watch_buffer_bytes", 1'024}}));
  const std::string big(300'000, 'x');
  for (int i = 0; i < 12; ++i)
    ASSERT_EQ(running.apply("big-" + std::to_string(i), big).code, Code::ok);
  Seen seen(running, watching(), 1);
  for (uint32_t granted = 1; granted < 13; ++granted) {
    ASSERT_TRUE(seen.wait([&] { return seen.events.size() == granted; })) << seen.text();
    seen.watch.credit(1);
  }
  seen.watch.credit(100);
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  EXPECT_TRUE(seen.wait([&] { return seen.state.size() == 12; }));
  EXPECT_TRUE(seen.wait_state("big-3", big));
  for (int i = 0; i < 12; ++i) running.remove("big-" + std::to_string(i));
}

TEST_F(Real, RequestsBeyondTheLimitAreRefusedAndTheOthersServed) {
  Running running(config({{"connections_max", 1}, {"requests_max", 5}}));
  std::atomic<int> served{0}, refused{0}, other{0};
  for (int i = 0; i < 200; ++i) {
    running.client.request({"get", config_maps, "default", "none", {}, {}, {}, {}, INT64_MAX},
                           [&](const Response& r) {
                             ++(r.code == Code::not_found            ? served
                                : r.code == Code::resource_exhausted ? refused
                                                                     : other);
                           });
  }
  ASSERT_TRUE(running.host.run_until([&] { return served + refused + other == 200; }, patience));
  EXPECT_GE(served, 5);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(other, 0);
}

TEST_F(Rig, WatchLivesOnWhenTheApiServerIsRestarted) {
  Running running(config());
  running.apply("kept", "1");
  running.apply("removed", "1");
  Seen seen(running, watching(), 100'000);
  ASSERT_TRUE(seen.wait_for("SYNCED")) << seen.text();
  ASSERT_EQ(run("stop-apiserver"), 0);
  EXPECT_TRUE(seen.wait_trouble()) << seen.text();
  EXPECT_EQ(running.get("kept").code, Code::unavailable);
  EXPECT_EQ(running.host.health(), DAVIT_HEALTH_DEGRADED);
  ASSERT_EQ(run("start-apiserver"), 0);
  ASSERT_TRUE(running.host.run_until([&] { return running.apply("kept", "2").code == Code::ok; },
                                     patience));
  EXPECT_EQ(running.remove("removed").code, Code::ok);
  EXPECT_TRUE(seen.wait_state("kept", "2")) << seen.text();
  EXPECT_TRUE(seen.wait([&] { return !seen.state.contains("removed"); })) << seen.text();
  EXPECT_TRUE(
      running.host.run_until([&] { return running.host.health() == DAVIT_HEALTH_SERVING; }));
  EXPECT_TRUE(running.host.logged("the API server answers again"));
  running.remove("kept");
}

}  // namespace
}  // namespace davit::cluster_kubernetes

// A ceiling of requests a second, and the restriction to namespaces, in the whole plugin.
#include "edge.hpp"

namespace davit::cluster_kubernetes {
namespace {

TEST_F(Edge, ACeilingLetsABurstGoAndThenKeepsThePace) {
  Server server(http("200 OK", "{}"));
  Running running(
      config(server.port, {{"requests_per_second", int64_t{20}}, {"requests_burst", int64_t{5}}}));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  const auto begun = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::vector<int> order;
  for (int i = 0; i < 15; ++i) {
    running.client.request({"get", config_maps, "default", "a", {}, {}, {}, {}, INT64_MAX},
                           [&, i](const Response&) {
                             const std::lock_guard lock(mutex);
                             order.push_back(i);
                           });
  }
  EXPECT_TRUE(running.host.run_until(
      [&] {
        const std::lock_guard lock(mutex);
        return order.size() == 15;
      },
      patience));
  // Ten have waited for a twentieth of a second each. That is a lower bound, however slow it is.
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(490));
  const std::vector<int> paced(order.begin() + 5, order.end());
  EXPECT_TRUE(std::is_sorted(paced.begin(), paced.end())) << "those that waited kept their order";
}

TEST_F(Edge, WhatLeavesTheNamespacesIsNeverSent) {
  Server server(http("200 OK", "{}"));
  Running running(config(server.port, {{"namespaces", std::vector<std::string>{"shop", "web"}}}));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  EXPECT_EQ(running.get("a", "web").code, Code::ok);
  const int sent = server.connections;
  const auto r = running.get("a", "other");
  EXPECT_EQ(r.code, Code::permission_denied);
  EXPECT_EQ(r.http_status, 403);
  EXPECT_EQ(r.reason, "Forbidden");
  EXPECT_EQ(r.message,
            "namespace \"other\" is left alone: this agent is restricted to namespaces "
            "(shop, web)");
  EXPECT_EQ(running.get("a", "").code, Code::permission_denied);
  cluster::WatchRequest outside = watching();
  Seen seen(running, outside, 10);
  EXPECT_TRUE(seen.wait_trouble());
  EXPECT_EQ(server.connections, sent);
}

TEST_F(Edge, TheNamespacesMustBeNames) {
  Server server;
  EXPECT_NE(created(config(server.port, {{"namespaces", std::vector<std::string>{"A b"}}})), "ok");
  EXPECT_NE(created(config(server.port, {{"namespaces", std::vector<std::string>{"a", "a"}}})),
            "ok");
}

}  // namespace
}  // namespace davit::cluster_kubernetes

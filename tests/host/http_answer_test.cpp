#include "observability/http_answer.hpp"

#include <gtest/gtest.h>

#include "services/health.hpp"
#include "services/metrics.hpp"

namespace davit::host {
namespace {

class HttpAnswer : public testing::Test {
 protected:
  // "200 OK|body"
  std::string ask(const std::string& head) {
    const std::string all = http_answer(head, metrics_, health_);
    const size_t body = all.find("\r\n\r\n");
    EXPECT_NE(body, std::string::npos);
    return all.substr(9, all.find('\r') - 9) + "|" + all.substr(body + 4);
  }
  std::string get(const std::string& path) {
    return ask("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  Metrics metrics_;
  Health health_;
};

TEST_F(HttpAnswer, ShowsMetrics) {
  Metrics::set(metrics_.metric(DAVIT_GAUGE, "davit_lag", "how far behind", nullptr, 0), 3);
  EXPECT_EQ(get("/metrics?x=1"),
            "200 OK|# HELP davit_lag how far behind\n# TYPE davit_lag gauge\ndavit_lag 3\n");
}

TEST_F(HttpAnswer, LivesWhateverThePluginsSay) {
  health_.set("a", DAVIT_HEALTH_NOT_SERVING, "down");
  EXPECT_EQ(get("/healthz"), "200 OK|ok\n");
}

TEST_F(HttpAnswer, IsReadyWhenEveryPluginServes) {
  EXPECT_EQ(get("/readyz"), "503 Service Unavailable|starting\n");
  health_.set("a", DAVIT_HEALTH_SERVING, "");
  EXPECT_EQ(get("/readyz"), "200 OK|serving\n");
  health_.set("b", DAVIT_HEALTH_DEGRADED, "breaker open");
  EXPECT_EQ(get("/readyz"), "200 OK|degraded: b: breaker open\n");
  health_.set("c", DAVIT_HEALTH_NOT_SERVING, "database is away");
  EXPECT_EQ(get("/readyz"), "503 Service Unavailable|not serving: c: database is away\n");
}

TEST_F(HttpAnswer, RefusesTheRest) {
  EXPECT_EQ(get("/"), "404 Not Found|/metrics, /healthz or /readyz\n");
  EXPECT_EQ(ask("POST /metrics HTTP/1.1\r\n\r\n"), "405 Method Not Allowed|GET or HEAD\n");
  EXPECT_EQ(ask("HEAD /healthz HTTP/1.1\r\n\r\n"), "200 OK|");
  for (const char* head : {"", "GET", "GET /metrics", "GET /metrics FTP/1\r\n", "\r\n\r\n", "  "}) {
    EXPECT_EQ(ask(head), "400 Bad Request|this is not HTTP/1.1\n") << head;
  }
}

}  // namespace
}  // namespace davit::host

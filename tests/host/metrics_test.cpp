#include "services/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <davit/types.hpp>
#include <thread>

namespace davit::host {
namespace {

davit_metric* make(Metrics& m, int32_t type, std::string_view name, const Pairs& labels = {}) {
  const auto abi = to_abi(labels);
  return m.metric(type, name, "what it counts", abi.data(), abi.size());
}

TEST(Metrics, SameNameAndLabelsAreTheSameMetric) {
  Metrics m;
  EXPECT_EQ(make(m, DAVIT_COUNTER, "a", {{"x", "1"}, {"y", "2"}}),
            make(m, DAVIT_COUNTER, "a", {{"y", "2"}, {"x", "1"}}));
  EXPECT_NE(make(m, DAVIT_COUNTER, "a", {{"x", "1"}}), make(m, DAVIT_COUNTER, "a", {{"x", "2"}}));
}

TEST(Metrics, AreShownAsPrometheusText) {
  Metrics m;
  Metrics::add(make(m, DAVIT_COUNTER, "davit_sent_total", {{"region", "us \"east\"\n"}}), 3);
  Metrics::set(make(m, DAVIT_GAUGE, "davit_lag"), 2.5);
  Metrics::add(make(m, DAVIT_GAUGE, "davit_lag"), -1);
  EXPECT_EQ(m.expose(),
            "# HELP davit_lag what it counts\n# TYPE davit_lag gauge\ndavit_lag 1.5\n"
            "# HELP davit_sent_total what it counts\n# TYPE davit_sent_total counter\n"
            "davit_sent_total{region=\"us \\\"east\\\"\\n\"} 3\n");
}

TEST(Metrics, HistogramsCountUpToTheirBounds) {
  Metrics m;
  auto* h = make(m, DAVIT_HISTOGRAM, "davit_seconds", {{"k", "v"}});
  for (double s : {0.0004, 0.0005, 0.001, 0.002, 59.0, 100.0}) Metrics::observe(h, s);
  const std::string text = m.expose();
  EXPECT_NE(text.find("davit_seconds_bucket{k=\"v\",le=\"0.0005\"} 2\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("davit_seconds_bucket{k=\"v\",le=\"0.001\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("davit_seconds_bucket{k=\"v\",le=\"0.0025\"} 4\n"), std::string::npos);
  EXPECT_NE(text.find("davit_seconds_bucket{k=\"v\",le=\"60\"} 5\n"), std::string::npos);
  EXPECT_NE(text.find("davit_seconds_bucket{k=\"v\",le=\"+Inf\"} 6\n"), std::string::npos);
  EXPECT_NE(text.find("davit_seconds_sum{k=\"v\"} 159.0039\n"), std::string::npos);
  EXPECT_NE(text.find("davit_seconds_count{k=\"v\"} 6\n"), std::string::npos);
}

TEST(Metrics, AGaugeOfWhatHasGoneIsNotShownUntilItIsBack) {
  Metrics m;
  auto* a = make(m, DAVIT_GAUGE, "davit_lag", {{"agent", "a"}});
  auto* b = make(m, DAVIT_GAUGE, "davit_lag", {{"agent", "b"}});
  Metrics::set(a, std::nan(""));
  EXPECT_EQ(m.expose(),
            "# HELP davit_lag what it counts\n# TYPE davit_lag gauge\ndavit_lag{agent=\"b\"} 0\n");
  Metrics::set(b, std::nan(""));
  EXPECT_EQ(m.expose(), "");
  Metrics::set(a, 3);
  EXPECT_NE(m.expose().find("davit_lag{agent=\"a\"} 3\n"), std::string::npos);
}

TEST(Metrics, NoDigitIsLost) {
  Metrics m;
  const std::pair<double, const char*> numbers[] = {{1764018043.307, "1764018043.307"},
                                                    {0.1 + 0.2, "0.30000000000000004"},
                                                    {0.00025, "0.00025"},
                                                    {123456789012, "123456789012"},
                                                    {1e300, "1e+300"},
                                                    {-2.5, "-2.5"}};
  for (const auto& [number, text] : numbers) {
    Metrics::set(make(m, DAVIT_GAUGE, "g"), number);
    EXPECT_NE(m.expose().find(std::string("\ng ") + text + "\n"), std::string::npos) << m.expose();
  }
}

TEST(Metrics, WhatCannotBeShownIsHarmless) {
  Metrics m;
  Metrics::add(make(m, DAVIT_COUNTER, "9bad name"), 1);
  Metrics::add(make(m, DAVIT_COUNTER, "ok", {{"bad label", "x"}}), 1);
  Metrics::add(make(m, 77, "ok"), 1);
  EXPECT_EQ(m.expose(), "");
  auto* counter = make(m, DAVIT_COUNTER, "c");
  Metrics::set(make(m, DAVIT_GAUGE, "c"), 9);  // another type of the same name
  Metrics::add(counter, -5);                   // counters only grow
  Metrics::set(counter, 9);
  EXPECT_NE(m.expose().find("\nc 0\n"), std::string::npos);
}

TEST(Metrics, ThreadsLoseNothing) {
  Metrics m;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) Metrics::add(make(m, DAVIT_COUNTER, "c"), 1);
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_NE(m.expose().find("\nc 20000\n"), std::string::npos);
}

}  // namespace
}  // namespace davit::host

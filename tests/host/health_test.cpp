#include "services/health.hpp"

#include <gtest/gtest.h>

#include "services/health_metrics.hpp"
#include "services/metrics.hpp"

namespace davit::host {
namespace {

TEST(Health, OfTheHostIsTheWorstOfAll) {
  Health health;
  EXPECT_EQ(health.worst().health, DAVIT_HEALTH_STARTING);
  health.set("a", DAVIT_HEALTH_SERVING, "");
  EXPECT_EQ(health.worst().health, DAVIT_HEALTH_SERVING);
  health.set("b", DAVIT_HEALTH_DEGRADED, "breaker open");
  EXPECT_EQ(health.worst().instance, "b");
  health.set("c", DAVIT_HEALTH_STARTING, "");
  EXPECT_EQ(health.worst().instance, "c");
  health.set("a", DAVIT_HEALTH_NOT_SERVING, "database is away");
  EXPECT_EQ(health.worst().reason, "database is away");
  health.set("a", 1234, "from the future");
  EXPECT_STREQ(Health::word(health.worst().health), "not serving");
}

TEST(Health, AStartedPluginServesUnlessItHasSpoken) {
  Health health;
  health.set("silent", DAVIT_HEALTH_STARTING, "");
  health.set("waiting", DAVIT_HEALTH_STARTING, "no leader yet");
  health.set("down", DAVIT_HEALTH_NOT_SERVING, "");
  for (const char* name : {"silent", "waiting", "down"})
    health.set_if_starting(name, DAVIT_HEALTH_SERVING);
  std::string words;
  for (const auto& entry : health.all())
    words += entry.instance + "=" + Health::word(entry.health) + " ";
  EXPECT_EQ(words, "down=not serving silent=serving waiting=starting ");
}

TEST(Health, IsAMetricOfEachPlugin) {
  Health health;
  Metrics metrics;
  show_health(metrics, health);
  health.set("main", DAVIT_HEALTH_NOT_SERVING, "database is away");
  health.set("streamer", DAVIT_HEALTH_SERVING, "");
  EXPECT_NE(metrics.expose().find("davit_health{plugin=\"main\"} 3\n"), std::string::npos);
  health.set("main", DAVIT_HEALTH_DEGRADED, "disk is full");
  const std::string text = metrics.expose();
  EXPECT_NE(text.find("davit_health{plugin=\"main\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("davit_health{plugin=\"streamer\"} 0\n"), std::string::npos) << text;
}

TEST(Health, TellsItsListenerAfterTheChange) {
  Health health;
  std::string told;
  health.on_change([&] { told += std::string(Health::word(health.worst().health)) + " "; });
  health.set("a", DAVIT_HEALTH_STARTING, "");
  health.set_if_starting("a", DAVIT_HEALTH_SERVING);
  health.set_if_starting("a", DAVIT_HEALTH_SERVING);  // it is already
  health.set("a", DAVIT_HEALTH_DEGRADED, "slow");
  EXPECT_TRUE(health.worst().ready());
  health.on_change({});
  health.set("a", DAVIT_HEALTH_NOT_SERVING, "");
  EXPECT_FALSE(health.worst().ready());
  EXPECT_EQ(told, "starting serving degraded ");
}

}  // namespace
}  // namespace davit::host

#include "ctrl_report.hpp"

#include <gtest/gtest.h>

namespace davit::sentinel {
namespace {

Status status(const char* health, int64_t ready) {
  Status s;
  s.health = health;
  s.ready = ready;
  return s;
}

TEST(SentinelReport, SaysDeleteByNameAlone) {
  EXPECT_EQ(delete_message({"s_1", "sentinel", "edge"}), R"({"delete":{"k8s_name":"edge"}})");
}

TEST(SentinelReport, IsHealthyWhenOneReplicaIsAvailable) {
  const std::tuple<const char*, int64_t, const char*> rows[] = {
      {"healthy", 3, "HEALTH_HEALTHY"},       {"progressing", 1, "HEALTH_HEALTHY"},
      {"progressing", 0, "HEALTH_UNHEALTHY"}, {"unhealthy", 0, "HEALTH_UNHEALTHY"},
      {"unhealthy", 1, "HEALTH_HEALTHY"},     {"paused", 0, "HEALTH_PAUSED"},
      {"unknown", 0, "HEALTH_UNSPECIFIED"},   {"", 0, "HEALTH_UNSPECIFIED"}};
  for (const auto& [health, ready, wire] : rows) {
    EXPECT_EQ(to_report({"s_1", "sentinel", "edge"}, status(health, ready)),
              R"({"k8s_name":"edge","available_replicas":)" + std::to_string(ready) +
                  R"(,"health":")" + wire + "\"}")
        << health;
  }
}

TEST(SentinelReport, SaysNoneWhenItIsGone) {
  Status s = status("unknown", 2);
  s.gone = true;
  EXPECT_EQ(to_report({"s_1", "sentinel", "edge"}, s),
            R"({"k8s_name":"edge","available_replicas":0,"health":"HEALTH_UNHEALTHY"})");
}

TEST(SentinelReport, NeverLeavesTheFieldsRange) {
  EXPECT_NE(to_report({}, status("healthy", INT64_MAX)).find(":2147483647,"), std::string::npos);
  EXPECT_NE(to_report({}, status("unhealthy", -1)).find("\"available_replicas\":0,"),
            std::string::npos);
}

TEST(SentinelReport, IsReadWithItsHealth) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("health":"HEALTH_HEALTHY",)", "healthy"},
      {R"("health":"HEALTH_UNHEALTHY",)", "unhealthy"},
      {R"("health":"HEALTH_PAUSED",)", "paused"},
      {R"("health":"HEALTH_UNSPECIFIED",)", "unknown"},
      {"", "unknown"}};
  for (const auto& [member, health] : rows) {
    const auto r =
        from_report("{" + std::string(member) + R"("k8s_name":"edge","available_replicas":2})");
    ASSERT_TRUE(r.ok()) << member;
    EXPECT_EQ(r->first, (Named{"", "", "edge"}));
    EXPECT_EQ(r->second.health, health);
    EXPECT_EQ(r->second.ready, 2);
    EXPECT_EQ(r->second.desired, 2);
    EXPECT_EQ(r->second.updated, 2);
    EXPECT_FALSE(r->second.gone);
  }
}

TEST(SentinelReport, NamesTheFieldThatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({})", "k8s_name"},
      {R"({"k8s_name":7})", "k8s_name"},
      {R"({"k8s_name":"edge","available_replicas":-1})", "available_replicas"},
      {R"({"k8s_name":"edge","available_replicas":"x"})", "available_replicas"},
      {R"({"k8s_name":"edge","health":"HEALTH_FINE"})", "health"},
      {R"({"k8s_name":"edge","health":9})", "health"},
      {R"([])", ""}};
  for (const auto& [report, where] : rows) {
    const auto r = from_report(report);
    ASSERT_FALSE(r.ok()) << report;
    EXPECT_EQ(r.error().code, Code::invalid_argument) << report;
    EXPECT_EQ(r.error().where, where) << report;
  }
}

}  // namespace
}  // namespace davit::sentinel

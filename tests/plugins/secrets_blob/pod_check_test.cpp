#include "pod_check.hpp"

#include <gtest/gtest.h>

#include <davit/rfc3339.hpp>

namespace davit::secrets_blob {
namespace {

constexpr int64_t now = 1'900'000'000'000;

std::string pod(const std::string& what = {}, const std::string& with = {}) {
  std::string out = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1",
    "namespace":"acme","uid":"p1","labels":{"unkey.com/deployment.id":"d_1",
    "unkey.com/environment.id":"env_1","unkey.com/inject":"true"}},"status":{"phase":"Running"}})";
  if (what.empty()) return out;
  const size_t at = out.find(what);
  if (at == std::string::npos) ADD_FAILURE() << what;
  return out.replace(at, what.size(), with);
}
std::string told_of_pod(const std::string& text, const Claim& claim = {"d_1", "env_1"},
                        const PodIdentity& who = {"acme", "customer-workload", "web-1", "p1"},
                        const std::string& prefix = "unkey.com/") {
  const auto r = check_pod(text, who, claim, prefix, now);
  if (r.ok()) return "theirs";
  return (r.error().code == Code::unauthenticated ? "refused: " : "away: ") + r.error().message;
}

TEST(PodCheck, APodMayAskForItsOwnDeployment) {
  EXPECT_EQ(told_of_pod(pod()), "theirs");
  EXPECT_EQ(told_of_pod(pod("Running", "Pending")), "theirs") << "an init container may ask";
}

TEST(PodCheck, OfAnotherDeploymentOrEnvironmentIsRefused) {
  const std::string deployment = "refused: the pod is one of another deployment";
  const std::string environment = "refused: the pod is one of another environment";
  EXPECT_EQ(told_of_pod(pod(), {"d_2", "env_1"}), deployment);
  EXPECT_EQ(told_of_pod(pod("\"d_1\"", "\"d_2\"")), deployment);
  EXPECT_EQ(told_of_pod(pod("unkey.com/deployment.id", "other")), deployment);
  EXPECT_EQ(told_of_pod(pod("\"d_1\"", "[\"d_1\"]")), deployment);
  EXPECT_EQ(told_of_pod(pod(), {"d_1", "env_2"}), environment);
  EXPECT_EQ(told_of_pod(pod("unkey.com/environment.id", "other")), environment);
  EXPECT_EQ(
      told_of_pod(R"({"kind":"Pod","metadata":{"name":"web-1","namespace":"acme","uid":"p1"}})"),
      deployment);
}

TEST(PodCheck, LabelsHaveThePrefixOfTheSettings) {
  EXPECT_EQ(told_of_pod(pod(), {"d_1", "env_1"}, {"acme", "a", "web-1", "p1"}, "acme.com/"),
            "refused: the pod is one of another deployment");
}

TEST(PodCheck, APodThatHasTheNameOfAnEarlierOneIsRefused) {
  const std::string no = "refused: the pod is another one of the same name";
  EXPECT_EQ(told_of_pod(pod("\"p1\"", "\"p2\"")), no);
  EXPECT_EQ(told_of_pod(pod("\"uid\":\"p1\",", "")), no);
  EXPECT_EQ(told_of_pod(pod("\"p1\"", "\"p2\""), {"d_1", "env_1"}, {"acme", "a", "web-1", ""}),
            "theirs")
      << "the token does not say of which";
}

TEST(PodCheck, APodThatHasFinishedIsRefused) {
  for (const char* phase : {"Succeeded", "Failed"})
    EXPECT_EQ(told_of_pod(pod("Running", phase)), "refused: the pod has finished") << phase;
}

// As long as the API server accepts a token of such a pod.
TEST(PodCheck, APodThatIsBeingDeletedMayAskUntilAMinuteAfterItsGracePeriod) {
  const auto deleted = [](int64_t at) {
    return pod("\"uid\"", "\"deletionTimestamp\":\"" + rfc3339(at) + "\",\"uid\"");
  };
  EXPECT_EQ(told_of_pod(deleted(now + 30'000)), "theirs");
  EXPECT_EQ(told_of_pod(deleted(now - 59'000)), "theirs");
  EXPECT_EQ(told_of_pod(deleted(now - 60'000)), "refused: the pod was to be gone by now");
  EXPECT_EQ(told_of_pod(pod("\"uid\"", "\"deletionTimestamp\":\"soon\",\"uid\"")),
            "refused: the pod was to be gone by now");
}

TEST(PodCheck, WhatIsNotThePodThatWasAskedForRefusesNobody) {
  const std::string no = "away: the answer to a GET of a pod is not that pod";
  EXPECT_EQ(told_of_pod(pod("web-1", "web-2")), no);
  EXPECT_EQ(told_of_pod(pod("acme", "other")), no);
  EXPECT_EQ(told_of_pod(pod("\"Pod\"", "\"Status\"")), no);
  EXPECT_EQ(told_of_pod("<html>"), "away: the answer to a GET of a pod is not JSON: syntax error");
}

}  // namespace
}  // namespace davit::secrets_blob

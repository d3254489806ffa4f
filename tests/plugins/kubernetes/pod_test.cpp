// What is read of one pod.
#include "kubernetes/pod.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "kubernetes/times.hpp"

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

json::value pod_with(const char* status) {
  json::object o{{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata", {{"name", "web-a"}, {"namespace", "acme"}}}};
  o["status"] = json::parse(status);
  return o;
}

// The later original's table: not ready is pending, not failed; the dead are no instances.
TEST(Pod, DerivesThePodsStatusFromPhaseAndReadiness) {
  const struct {
    const char* status;
    const char* expected;
    bool active;
  } rows[] = {
      {R"({"phase":"Pending"})", "pending", true},
      {R"({})", "pending", true},
      {R"({"phase":"Running","conditions":[{"type":"ContainersReady","status":"True"}]})",
       "running", true},
      {R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})", "running", true},
      {R"({"phase":"Running"})", "pending", true},
      // The node is gone: its kubelet had said that the containers are ready.
      {R"({"phase":"Running","conditions":[{"type":"ContainersReady","status":"True"},
          {"type":"Ready","status":"False"}]})",
       "pending", true},
      {R"({"phase":"Running","conditions":[{"type":"Ready","status":"Unknown"},
          {"type":"ContainersReady","status":"True"}]})",
       "pending", true},
      {R"({"phase":"Running","reason":"NodeLost","conditions":[{"type":"Ready","status":"True"}]})",
       "pending", true},
      {R"({"phase":"Running","conditions":[{"type":"ContainersReady","status":"False"}]})",
       "pending", true},
      {R"({"phase":"Running","conditions":[{"type":"ContainersReady","status":"Unknown"}]})",
       "pending", true},
      {R"({"phase":"Failed"})", "failed", false},
      {R"({"phase":"Succeeded"})", "done", false},
      {R"({"phase":"Unknown"})", "inactive", true},
      {R"({"phase":"Dreaming"})", "inactive", true},
  };
  for (const auto& row : rows) {
    const json::value seen = pod_with(row.status);
    const Pod p = read_pod(seen);
    EXPECT_EQ(p.status, row.expected) << row.status;
    EXPECT_EQ(p.active(), row.active) << row.status;
  }
}

TEST(Pod, HasTheSizeOfItsContainersLimits) {
  json::value v = pod_with("{}");
  EXPECT_EQ(read_pod(v).cpu_millicores, 0);
  v.as_object()["spec"] =
      json::parse(R"({"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})");
  EXPECT_EQ(read_pod(v).cpu_millicores, 1000);
  EXPECT_EQ(read_pod(v).memory_mib, 1024);
}

TEST(Pod, LeavesTerminatingPodsOut) {
  json::value v =
      pod_with(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})");
  v.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_FALSE(read_pod(v).active());
  EXPECT_FALSE(read_pod(v).ready());
}

TEST(Pod, KnowsWhatWaitingCannotCure) {
  const struct {
    const char* status;
    const char* trouble;
    bool failing;
  } rows[] = {
      {R"({"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff"}}}]})",
       "ImagePullBackOff", true},
      {R"({"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]})",
       "", false},
      {R"({"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})",
       "CrashLoopBackOff", true},
      {R"({"phase":"Failed","reason":"Evicted"})", "Evicted", true},
      {R"({"phase":"Failed"})", "Failed", true},
      {R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
          "message":"0/3 nodes are available"}]})",
       "Unschedulable: 0/3 nodes are available", false},
      {R"({"phase":"Running","containerStatuses":[{"name":"a","state":{"running":{}}},{"name":"b","state":
          {"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137}}}]})",
       "container b: CrashLoopBackOff (last exit code 137)", true},
      {R"({"phase":"Pending","initContainerStatuses":[{"name":"setup","state":{"waiting":
          {"reason":"CrashLoopBackOff"}}}],"containerStatuses":[{"name":"a","state":
          {"waiting":{"reason":"PodInitializing"}}}]})",
       "init container setup: CrashLoopBackOff", true},
      {R"({"phase":"Pending","initContainerStatuses":[{"name":"setup","state":{"terminated":
          {"reason":"Error","exitCode":2}}}]})",
       "init container setup: Error (exit code 2)", true},
      {R"({"phase":"Pending","initContainerStatuses":[{"name":"setup","state":{"terminated":
          {"reason":"Completed","exitCode":0}}}]})",
       "", false},
      {R"({"phase":"Running","reason":"NodeLost"})", "NodeLost: its node does not answer", false},
      {R"({"phase":"Running","conditions":[{"type":"ContainersReady","status":"True"},
          {"type":"Ready","status":"False","reason":"ReadinessGatesNotReady"}]})",
       "ReadinessGatesNotReady", false},
      {R"({"phase":"Running","conditions":[{"type":"ContainersReady","status":"True"},
          {"type":"Ready","status":"False"}]})",
       "not ready although its containers are: its node may be gone", false},
  };
  for (const auto& row : rows) {
    const json::value seen = pod_with(row.status);
    const Pod p = read_pod(seen);
    EXPECT_EQ(p.trouble, row.trouble) << row.status;
    EXPECT_EQ(p.failing, row.failing) << row.status;
  }
}

TEST(Pod, NamesTheInitContainerOrSidecarThatItWaitsFor) {
  const struct {
    const char* status;
    const char* trouble;
    bool failing;
  } rows[] = {
      {R"({"phase":"Pending","initContainerStatuses":[{"name":"setup","ready":false,"state":{"running":{}}}],
          "containerStatuses":[{"name":"a","state":{"waiting":{"reason":"PodInitializing"}}}]})",
       "init container setup has not ended", false},
      {R"({"phase":"Pending","initContainerStatuses":[{"name":"setup","ready":false,"state":{"running":{}},
          "lastState":{"terminated":{"exitCode":3}}}]})",
       "init container setup has not ended (last exit code 3)", false},
      {R"({"phase":"Running","initContainerStatuses":[{"name":"proxy","ready":false,"state":
          {"waiting":{"reason":"CrashLoopBackOff"}}}],"containerStatuses":[{"name":"a","ready":true,
          "state":{"running":{}}}]})",
       "sidecar proxy: CrashLoopBackOff", true},
      {R"({"phase":"Running","initContainerStatuses":[{"name":"proxy","ready":false,"state":{"running":{}}}],
          "containerStatuses":[{"name":"a","ready":false,"state":{"running":{}}}]})",
       "sidecar proxy is not ready", false},
      {R"({"phase":"Running","initContainerStatuses":[{"name":"proxy","ready":true,"state":{"running":{}}}],
          "containerStatuses":[{"name":"a","ready":false,"state":{"running":{}},
          "lastState":{"terminated":{"exitCode":137}}}]})",
       "container a is not ready (last exit code 137)", false},
  };
  for (const auto& row : rows) {
    json::value seen = pod_with(row.status);
    seen.as_object()["spec"] = json::parse(
        R"({"initContainers":[{"name":"setup"},{"name":"proxy","restartPolicy":"Always"}]})");
    const Pod p = read_pod(seen);
    EXPECT_EQ(p.trouble, row.trouble) << row.status;
    EXPECT_EQ(p.failing, row.failing) << row.status;
  }
}

TEST(Pod, SaysSinceWhenItIsReadyAndWhenItWasMadeAndIsToEnd) {
  json::value v = pod_with(R"({"phase":"Running","conditions":[
    {"type":"ContainersReady","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"},
    {"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:10Z"}]})");
  auto& metadata = v.at("metadata").as_object();
  metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
  metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z";
  const Pod p = read_pod(v);
  EXPECT_EQ(p.ready_since_ms - p.created_ms, 10'000);
  EXPECT_EQ(p.ends_ms - p.created_ms, 60'000);
  const json::value bare = pod_with("{}");
  EXPECT_EQ(read_pod(bare).created_ms + read_pod(bare).ready_since_ms, 0);
}

TEST(Times, AreReadAsKubernetesWritesThem) {
  const std::pair<const char*, std::optional<int64_t>> rows[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"2026-04-01T12:34:56Z", 1'775'046'896'000},
      {"2026-04-01T12:34:56.789012Z", 1'775'046'896'000},
      {"2026-04-01T14:34:56+02:00", 1'775'046'896'000},
      {"2026-04-01T08:04:56-04:30", 1'775'046'896'000},
      {"2026-02-30T00:00:00Z", std::nullopt},
      {"2026-04-01T24:00:00Z", std::nullopt},
      {"2026-04-01T12:34:56", std::nullopt},
      {"2026-04-01T12:34:56+2", std::nullopt},
      {"2026-04-01 12:34:56Z", std::nullopt},
      {"2026-04-01T12:34:56.", std::nullopt},
      {"20x6-04-01T12:34:56Z", std::nullopt},
      {"today", std::nullopt},
      {"", std::nullopt}};
  for (const auto& [text, expected] : rows) EXPECT_EQ(unix_ms_of(text), expected) << text;
}

TEST(Trouble, IsThatOfTheWorstPodAndHowManyMoreHaveOne) {
  std::vector<Pod> pods(4);
  for (size_t i = 0; i < pods.size(); ++i)
    pods[i].name = std::string(1, static_cast<char>('a' + i));
  Trouble none;
  add_worst_pod(none, pods);
  EXPECT_EQ(none.text, "");
  EXPECT_FALSE(none.failing);
  pods[1].trouble = "Unschedulable";
  pods[2].trouble = "ImagePullBackOff";
  pods[2].failing = true;
  pods[3].trouble = "Evicted";
  pods[3].failing = pods[3].terminating = true;
  Trouble found{"replica set: FailedCreate", false};
  add_worst_pod(found, pods);
  EXPECT_EQ(found.text, "replica set: FailedCreate; pod c: ImagePullBackOff (and 1 more)");
  EXPECT_TRUE(found.failing);
}

TEST(Children, ArePodsThatAreActiveAndHaveAnAddress) {
  std::vector<Pod> pods(4);
  for (auto& pod : pods) pod.status = "running", pod.ip = "10.1.2.3";
  pods[0].ip.clear();
  pods[1].terminating = true;
  pods[2].status = "failed";
  pods[3].ip = "fd00::1";
  const auto by_ip = [](const Pod& pod) { return address_by_ip(pod, 80); };
  const json::array children = children_of(pods, by_ip);
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(children[0].at("address"), "[fd00::1]:80");
}

}  // namespace
}  // namespace davit::kubernetes

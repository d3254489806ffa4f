// The rules of health. Each row is an object as a cluster shows it, and what is said of it.
#include "health.hpp"
#include "message.hpp"

namespace davit::manifest::test {
namespace {

struct Row {
  const char* object;  // what is put into it, without apiVersion and kind
  const char* said;    // "progressing: why", or "healthy"
};

std::string said_of(const char* version, const char* kind, const std::string& text,
                    const Site& site = {}) {
  json::value o = json::parse(text);
  o.as_object()["apiVersion"] = version;
  o.as_object()["kind"] = kind;
  const Health h = judge(o, site);
  return std::string(word_of(h.state)) + (h.why.empty() ? "" : ": " + h.why);
}

void expect_rows(const char* version, const char* kind, std::initializer_list<Row> rows) {
  for (const Row& row : rows) EXPECT_EQ(said_of(version, kind, row.object), row.said) << row.object;
}

TEST(Health, OfAnyObjectThatGoesOrWhoseControllerLags) {
  for (const char* kind : {"Deployment", "Widget"}) {
    expect_rows("apps/v1", kind,
                {{R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})",
                  "terminating: is being deleted"},
                 {R"({"metadata":{"generation":3},"status":{"observedGeneration":2}})",
                  "progressing: its controller has not seen the change yet"}});
  }
}

TEST(Health, OfADeployment) {
  expect_rows(
      "apps/v1", "Deployment",
      {{R"({"spec":{"replicas":0}})", "progressing: its controller has not seen it yet"},
       {R"({"spec":{"replicas":0},"status":{"observedGeneration":1}})", "healthy"},
       {R"({"spec":{"replicas":3},"status":{"observedGeneration":1,"replicas":3,
           "updatedReplicas":3,"availableReplicas":3}})",
        "healthy"},
       {R"({"spec":{},"status":{"observedGeneration":1}})",
        "progressing: 0 of 1 replicas are updated"},
       {R"({"spec":{"replicas":3},"status":{"observedGeneration":1,"replicas":4,
           "updatedReplicas":3,"availableReplicas":3}})",
        "progressing: 1 old replicas are still there"},
       {R"({"spec":{"replicas":3},"status":{"observedGeneration":1,"replicas":3,
           "updatedReplicas":3,"availableReplicas":1}})",
        "progressing: 1 of 3 replicas are available"},
       {R"({"spec":{"replicas":3,"paused":true},"status":{"observedGeneration":1,"replicas":3,
           "updatedReplicas":1,"availableReplicas":3}})",
        "suspended: is paused: 1 of 3 replicas are updated"},
       {R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"conditions":[
           {"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"quota"}]}})",
        "failed: FailedCreate: quota"},
       {R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"conditions":[
           {"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}})",
        "failed: ProgressDeadlineExceeded"}});
}

TEST(Health, OfAStatefulSet) {
  expect_rows(
      "apps/v1", "StatefulSet",
      {{R"({"spec":{}})", "progressing: its controller has not seen it yet"},
       {R"({"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":1}})",
        "progressing: 1 of 2 replicas are there"},
       {R"({"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,
           "readyReplicas":1}})",
        "progressing: 1 of 2 replicas are ready"},
       {R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":2,
           "readyReplicas":2}})",
        "progressing: 1 replicas are to go"},
       {R"({"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,
           "readyReplicas":2,"availableReplicas":1}})",
        "progressing: 1 of 2 replicas are available"},
       {R"({"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"readyReplicas":2,
           "updatedReplicas":1,"currentRevision":"a","updateRevision":"b"}})",
        "progressing: 1 of 2 replicas are updated"},
       {R"({"spec":{"replicas":2,"updateStrategy":{"rollingUpdate":{"partition":1}}},"status":
           {"observedGeneration":1,"replicas":2,"readyReplicas":2,"updatedReplicas":1,
           "currentRevision":"a","updateRevision":"b"}})",
        "healthy"},
       {R"({"spec":{"replicas":2,"updateStrategy":{"type":"OnDelete"}},"status":
           {"observedGeneration":1,"replicas":2,"readyReplicas":2,"currentRevision":"a",
           "updateRevision":"b"}})",
        "healthy"}});
}

TEST(Health, OfADaemonSet) {
  expect_rows("apps/v1", "DaemonSet",
              {{R"({"status":{}})", "progressing: its controller has not seen it yet"},
               {R"({"status":{"observedGeneration":1,"desiredNumberScheduled":0}})", "healthy"},
               {R"({"status":{"observedGeneration":1,"desiredNumberScheduled":2,
                   "updatedNumberScheduled":1}})",
                "progressing: 1 of 2 pods are updated"},
               {R"({"status":{"observedGeneration":1,"desiredNumberScheduled":2,
                   "updatedNumberScheduled":2,"numberAvailable":1}})",
                "progressing: 1 of 2 pods are available"},
               {R"({"spec":{"updateStrategy":{"type":"OnDelete"}},"status":{"observedGeneration":1,
                   "desiredNumberScheduled":2,"updatedNumberScheduled":0,"numberAvailable":2}})",
                "healthy"}});
}

TEST(Health, OfAReplicaSet) {
  expect_rows("apps/v1", "ReplicaSet",
              {{R"({"spec":{"replicas":1}})", "progressing: its controller has not seen it yet"},
               {R"({"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,
                   "availableReplicas":1}})",
                "progressing: 1 of 2 replicas are available"},
               {R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":2,
                   "availableReplicas":2}})",
                "progressing: 1 replicas are to go"},
               {R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"conditions":[
                   {"type":"ReplicaFailure","status":"True"}]}})",
                "failed: its pods are refused"}});
  EXPECT_EQ(said_of("v1", "ReplicationController",
                    R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,
                        "availableReplicas":1}})"),
            "healthy");
}

TEST(Health, OfAPod) {
  expect_rows(
      "v1", "Pod",
      {{R"({"status":{"phase":"Succeeded"}})", "healthy"},
       {R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
        "healthy"},
       {R"({"status":{"phase":"Pending"}})", "progressing: is not ready"},
       {R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
           "reason":"Unschedulable","message":"0/3 nodes"}]}})",
        "progressing: Unschedulable: 0/3 nodes"},
       {R"({"status":{"phase":"Failed","reason":"Evicted"}})", "failed: Evicted"},
       {R"({"status":{"phase":"Running","containerStatuses":[{"name":"a",
           "state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})",
        "failed: ImagePullBackOff"}});
}

TEST(Health, OfAJob) {
  expect_rows("batch/v1", "Job",
              {{R"({"spec":{"completions":3},"status":{"succeeded":1,"failed":2}})",
                "progressing: 1 of 3 completions are done, and 2 pods have failed"},
               {R"({"spec":{"suspend":true}})", "suspended: is suspended"},
               {R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})", "healthy"},
               {R"({"status":{"conditions":[{"type":"Failed","status":"True",
           "reason":"BackoffLimitExceeded"}]}})",
                "failed: BackoffLimitExceeded"}});
  expect_rows(
      "batch/v1", "CronJob",
      {{R"({"spec":{}})", "healthy"}, {R"({"spec":{"suspend":true}})", "suspended: is suspended"}});
}

TEST(Health, OfWhatWorkloadsUse) {
  expect_rows("v1", "PersistentVolumeClaim",
              {{R"({"status":{"phase":"Bound"}})", "healthy"},
               {R"({"status":{"phase":"Pending"}})", "progressing: has no volume yet"},
               {R"({"status":{"phase":"Lost"}})", "failed: its volume is lost"}});
  expect_rows(
      "v1", "Service",
      {{R"({"spec":{"type":"ClusterIP"}})", "healthy"},
       {R"({"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{}}})",
        "progressing: its load balancer has no address yet"},
       {R"({"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
        "healthy"}});
  expect_rows("networking.k8s.io/v1", "Ingress",
              {{R"({"spec":{}})", "progressing: has no address yet"},
               {R"({"status":{"loadBalancer":{"ingress":[{"hostname":"a"}]}}})", "healthy"}});
}

TEST(Health, OfAnAutoscaler) {
  expect_rows("autoscaling/v2", "HorizontalPodAutoscaler",
              {{R"({})", "progressing: its controller has not seen it yet"},
               {R"({"status":{"conditions":[{"type":"AbleToScale","status":"True"},
           {"type":"ScalingActive","status":"True"}]}})",
                "healthy"},
               {R"({"status":{"conditions":[{"type":"AbleToScale","status":"False",
           "reason":"FailedGetScale"}]}})",
                "failed: FailedGetScale"},
               {R"({"status":{"conditions":[{"type":"AbleToScale","status":"True"},
           {"type":"ScalingActive","status":"False","reason":"FailedGetResourceMetric"}]}})",
                "failed: FailedGetResourceMetric"},
               {R"({"status":{"conditions":[{"type":"AbleToScale","status":"True"},
           {"type":"ScalingActive","status":"False","reason":"ScalingDisabled"}]}})",
                "healthy"}});
}

TEST(Health, OfADisruptionBudget) {
  expect_rows("policy/v1", "PodDisruptionBudget",
              {{R"({})", "progressing: its controller has not seen it yet"},
               {R"({"status":{"desiredHealthy":2,"currentHealthy":1}})",
                "progressing: 1 of 2 pods that it needs are healthy"},
               {R"({"status":{"desiredHealthy":2,"currentHealthy":2}})", "healthy"},
               {R"({"status":{"desiredHealthy":0,"conditions":[{"type":"DisruptionAllowed",
                   "status":"False","reason":"SyncFailed","message":"no scale"}]}})",
                "failed: SyncFailed: no scale"}});
}

TEST(Health, OfAnythingElseByItsConditions) {
  expect_rows(
      "example.com/v1", "Widget",
      {{R"({})", "healthy"},
       {R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", "healthy"},
       {R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"Waiting"}]}})",
        "progressing: Waiting"},
       {R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})",
        "progressing: is not ready"},
       {R"({"status":{"conditions":[{"type":"Available","status":"False"}]}})",
        "progressing: is not ready"},
       {R"({"status":{"conditions":[{"type":"Ready","status":"True"},
           {"type":"Reconciling","status":"True","message":"a moment"}]}})",
        "progressing: a moment"},
       {R"({"status":{"conditions":[{"type":"Ready","status":"False"},
           {"type":"Stalled","status":"True","reason":"NoSuchImage"}]}})",
        "failed: NoSuchImage"},
       {R"({"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True",
           "observedGeneration":1}]}})",
        "progressing: its controller has not seen the change yet"}});
  EXPECT_EQ(said_of("cilium.io/v2", "CiliumNetworkPolicy",
                    R"({"status":{"conditions":[{"type":"Valid","status":"False",
                        "message":"no such port"}]}})"),
            "failed: not valid: no such port");
}

TEST(Health, OfAnIngressWhereNobodyGivesAddresses) {
  Site site;
  site.ingress_needs_address = false;
  EXPECT_EQ(said_of("networking.k8s.io/v1", "Ingress", "{}", site), "healthy");
}

TEST(Health, OfGarbageIsAnswered) {
  for (const char* kind : {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
    EXPECT_NE(said_of("apps/v1", kind, R"({"spec":7,"status":{"conditions":{"a":1}}})"), "");
}

}  // namespace
}  // namespace davit::manifest::test

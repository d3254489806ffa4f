// What reconcile says and does, by what the cluster shows.
#include "message.hpp"

namespace davit::sentinel::test {
namespace {

// The cluster after it carried the plan out, with a Deployment that counts so many replicas.
struct Counts {
  int64_t replicas = 2, updated = 2, available = 2;
};
json::array cluster(const Counts& c, const json::object& message = minimal()) {
  json::array out = landed(planned(&message, {}));
  auto& deployment = out.at(0).as_object();
  deployment["metadata"].as_object()["generation"] = 3;
  deployment["status"] = {{"observedGeneration", 3},
                          {"replicas", c.replicas},
                          {"updatedReplicas", c.updated},
                          {"availableReplicas", c.available}};
  return out;
}

json::object pod(const char* name, json::object status) {
  json::object meta{{"name", name}, {"namespace", "sentinel"}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", std::move(meta)},
      {"spec",
       json::parse(R"({"containers":[{"resources":{"limits":{"cpu":"250m","memory":"256Mi"}}}]})")},
      {"status", std::move(status)}};
}
json::object running(const char* ip) {
  return {{"phase", "Running"},
          {"podIP", ip},
          {"conditions", json::array{{{"type", "ContainersReady"}, {"status", "True"}}}}};
}
json::object waiting(const char* reason) {
  json::object out{{"phase", "Pending"}};
  out["containerStatuses"].emplace_array().push_back(
      json::object{{"state", {{"waiting", {{"reason", reason}}}}}});
  return out;
}

std::string told(const json::object& answer) {
  const auto& s = answer.at("status").as_object();
  std::string out(s.at("health").as_string().c_str());
  for (const char* key : {"desired", "updated", "ready", "stale"})
    out += " " + json::serialize(s.at(key));
  const std::string message(s.at("message").as_string().c_str());
  return out + (message.empty() ? "" : ": " + message);
}
std::string told(const json::array& observed, const json::object& message = minimal()) {
  return told(planned(&message, observed));
}

std::string deleted(const json::object& answer) {
  std::string out;
  for (const auto& d : answer.at("delete").as_array()) {
    out += std::string(out.empty() ? "" : ", ") + d.at("resource").as_string().c_str() + " " +
           d.at("namespace").as_string().c_str() + "/" + d.at("name").as_string().c_str();
  }
  return out;
}

TEST(SentinelStatus, FollowsTheDeploymentsCounts) {
  const std::pair<Counts, const char*> rows[] = {
      {{2, 2, 2}, "healthy 2 2 2 0"},       {{2, 2, 1}, "progressing 2 2 1 0"},
      {{2, 2, 0}, "progressing 2 2 0 0"},   {{3, 1, 2}, "progressing 2 1 2 2"},
      {{1, 1, 1}, "progressing 2 1 1 0"},   {{3, 3, 3}, "progressing 2 3 3 0"},
      {{-1, -1, -1}, "progressing 2 0 0 0"}};
  for (const auto& [counts, wanted] : rows) EXPECT_EQ(told(cluster(counts)), wanted);
}

TEST(SentinelStatus, IsPausedWhenNoneIsWanted) {
  json::object message = minimal();
  message["replicas"] = 0;
  EXPECT_EQ(told(cluster({0, 0, 0}, message), message), "paused 0 0 0 0");
}

TEST(SentinelStatus, DoesNotTakeCountsOfAnOlderSpecForThisOne) {
  json::array behind = cluster({});
  behind.at(0).at("status").as_object()["observedGeneration"] = 2;
  EXPECT_EQ(told(behind), "progressing 2 0 2 2");
  json::object newer = minimal();
  newer["image"] = "sentinel:2";
  EXPECT_EQ(told(cluster({}), newer), "progressing 2 0 2 2");
}

TEST(SentinelStatus, IsNotHealthyWithoutItsCompanions) {
  EXPECT_EQ(told(json::array{}), "progressing 2 0 0 0: not there yet: Deployment edge");
  json::array partly = cluster({});
  partly.erase(partly.begin() + 4);
  EXPECT_EQ(told(partly),
            "progressing 2 2 2 0: not there yet: CiliumNetworkPolicy edge-gossip-lan");
  partly = cluster({});
  partly.at(1).at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(told(partly), "progressing 2 2 2 0: not there yet: Service edge");
}

TEST(SentinelStatus, IsUnhealthyWhenWaitingWillNotHelp) {
  json::array crashing = cluster({2, 2, 1});
  crashing.push_back(pod("edge-a", waiting("CrashLoopBackOff")));
  EXPECT_EQ(told(crashing), "unhealthy 2 2 1 0: pod edge-a: CrashLoopBackOff");
  json::array starting = cluster({2, 2, 1});
  starting.push_back(pod("edge-a", waiting("ContainerCreating")));
  EXPECT_EQ(told(starting), "progressing 2 2 1 0");
  const std::pair<const char*, const char*> rows[] = {
      {R"({"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"quota"})",
       "unhealthy 2 0 0 0: deployment: FailedCreate: quota"},
      {R"({"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"})",
       "unhealthy 2 0 0 0: deployment: ProgressDeadlineExceeded"},
      {R"({"type":"Progressing","status":"True"})", "progressing 2 0 0 0"}};
  for (const auto& [condition, wanted] : rows) {
    json::array stuck = cluster({0, 0, 0});
    stuck.at(0).at("status").as_object()["conditions"] = json::array{json::parse(condition)};
    EXPECT_EQ(told(stuck), wanted);
  }
}

TEST(SentinelStatus, PassesOverAPodThatTheDeploymentHasReplaced) {
  json::array observed = cluster({2, 2, 1});
  observed.push_back(pod("edge-a", {{"phase", "Failed"}, {"reason", "Evicted"}}));
  EXPECT_EQ(told(observed), "progressing 2 2 1 0");
}

TEST(SentinelStatus, SaysThatSomebodyHasPausedTheDeployment) {
  json::array paused = cluster({});
  paused.at(0).at("spec").as_object()["paused"] = true;
  const std::string why =
      ": deployment: paused by somebody, so no change reaches its pods (kubectl rollout resume)";
  EXPECT_EQ(told(paused), "healthy 2 2 2 0" + why);
  paused = cluster({2, 0, 2});
  paused.at(0).at("spec").as_object()["paused"] = true;
  EXPECT_EQ(told(paused), "progressing 2 0 2 2" + why);
}

TEST(SentinelStatus, SaysWhenCiliumTakesTheGossipPolicyForInvalid) {
  json::array observed = cluster({});
  observed.at(4).as_object()["status"] = json::parse(
      R"({"conditions":[{"type":"Valid","status":"False","reason":"Bad","message":"no such port"}]})");
  EXPECT_EQ(told(observed), "unhealthy 2 2 2 0: gossip policy: not valid: Bad: no such port");
}

TEST(SentinelStatus, ListsThePodsThatHaveAnAddress) {
  json::array observed = cluster({});
  observed.push_back(pod("edge-b", running("fd00::1")));
  observed.push_back(pod("edge-a", running("10.1.0.1")));
  observed.push_back(pod("edge-c", {{"phase", "Pending"}}));
  observed.push_back(pod("edge-d", {{"phase", "Failed"}, {"podIP", "10.1.0.9"}}));
  const json::object message = minimal();
  const auto answer = planned(&message, observed);
  EXPECT_EQ(answer.at("status").at("children"), json::parse(R"([
    {"name":"edge-a","address":"10.1.0.1:8040","status":"running","cpu_millicores":250,"memory_mib":256},
    {"name":"edge-b","address":"[fd00::1]:8040","status":"running","cpu_millicores":250,"memory_mib":256}])"));
}

TEST(SentinelDelete, RemovesGossipFirstAndTheDeploymentLast) {
  const auto answer = planned(nullptr, cluster({}));
  EXPECT_EQ(
      deleted(answer),
      "services sentinel/edge-gossip-lan, ciliumnetworkpolicies sentinel/edge-gossip-lan, "
      "services sentinel/edge, poddisruptionbudgets sentinel/edge, deployments sentinel/edge");
  EXPECT_EQ(told(answer), "progressing 0 0 2 2: being deleted");
}

TEST(SentinelDelete, IsGoneWhenTheLastPodIs) {
  json::array last;
  last.push_back(pod("edge-a", running("10.1.0.1")));
  EXPECT_EQ(planned(nullptr, last).at("status").at("gone"), false);
  EXPECT_EQ(planned(nullptr, {}).at("status").at("gone"), true);
}

TEST(SentinelDelete, DoesNotAskTwice) {
  json::array observed = cluster({});
  for (auto& object : observed)
    object.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(deleted(planned(nullptr, observed)), "");
}

TEST(SentinelPlan, LeavesAloneWhatTheSiteDoesNotWant) {
  const json::object message = minimal();
  Site site;
  site.gossip_policy = false;
  site.disruption_budget = false;
  const auto answer = planned(&message, cluster({}), site);
  EXPECT_EQ(deleted(answer), "") << "it is not watched, so nobody can say what is there";
  EXPECT_EQ(told(answer), "healthy 2 2 2 0");
  for (const auto& step : answer.at("apply").as_array()) {
    const auto& kind = step.at("object").at("kind").as_string();
    EXPECT_TRUE(kind != "CiliumNetworkPolicy" && kind != "PodDisruptionBudget");
  }
  EXPECT_EQ(deleted(planned(nullptr, cluster({}), site)),
            "services sentinel/edge-gossip-lan, services sentinel/edge, deployments sentinel/edge");
}

TEST(SentinelPlan, PutsTheSentinelWhereItsRecordSays) {
  json::object input{{"record", {{"namespace", "edges"}}}, {"desired", minimal()}};
  auto ns = [&](const Site& site) {
    const json::value plan = json::parse(reconcile(json::serialize(input), site).value());
    return json::serialize(plan.at_pointer("/apply/1/object/metadata/namespace"));
  };
  EXPECT_EQ(ns({}), "\"edges\"");
  input.erase("record");
  EXPECT_EQ(ns({}), "\"sentinel\"");
}

}  // namespace
}  // namespace davit::sentinel::test

#include "decide.hpp"

#include <boost/json.hpp>

#include <gtest/gtest.h>

namespace davit::clusters {
namespace {

json::object cluster(const std::string& metadata, const std::string& rest = "") {
  return json::parse(R"({"metadata":{"name":"c")" + (metadata.empty() ? "" : "," + metadata) + "}" +
                     (rest.empty() ? "" : "," + rest) + "}")
      .as_object();
}
const std::string ours = R"("finalizers":["a/b","cluster.cluster.k8s.io","c/d"])";
const std::string others = R"("finalizers":["a/b"])";
const std::string going = R"("deletionTimestamp":"2026-01-01T00:00:00Z")";
const std::string paused = R"("annotations":{"cluster.x-k8s.io/paused":"false"})";

TEST(Step, FollowsTheSeed) {
  EXPECT_EQ(step_of(cluster("")), Step::add_finalizer);
  EXPECT_EQ(step_of(cluster(others)), Step::add_finalizer);
  EXPECT_EQ(step_of(cluster(ours)), Step::reconcile);
  EXPECT_EQ(step_of(cluster(going)), Step::nothing);
  EXPECT_EQ(step_of(cluster(others + "," + going)), Step::nothing) << "whatever others wait for";
  EXPECT_EQ(step_of(cluster(ours + "," + going)), Step::remove);
}

TEST(Step, APausedClusterGetsItsFinalizerAndNothingElse) {
  EXPECT_EQ(step_of(cluster(paused)), Step::add_finalizer);
  EXPECT_EQ(step_of(cluster(paused + "," + ours)), Step::paused);
  EXPECT_EQ(step_of(cluster(paused + "," + ours + "," + going)), Step::paused);
  EXPECT_EQ(step_of(cluster(paused + "," + others + "," + going)), Step::nothing);
}

TEST(Finalizers, OfOthersKeepTheirOrder) {
  EXPECT_EQ(json::value(with_finalizer(cluster(others))),
            json::parse(R"(["a/b","cluster.cluster.k8s.io"])"));
  EXPECT_EQ(with_finalizer(cluster(ours)).size(), 3u) << "never twice";
  EXPECT_EQ(json::value(without_finalizer(cluster(ours))), json::parse(R"(["a/b","c/d"])"));
  const auto thrice =
      cluster(R"("finalizers":["cluster.cluster.k8s.io","x","cluster.cluster.k8s.io"])");
  EXPECT_EQ(json::value(without_finalizer(thrice)), json::parse(R"(["x"])")) << "every copy";
}

const std::vector<Provider> two{{"aws", {"aws.example"}}, {"rest", {}}, {"gcp", {"gcp.example"}}};
const std::vector<Provider> strict{{"aws", {"aws.example"}}, {"gcp", {"gcp.example"}}};

std::string spec(const std::string& provider_spec) {
  return R"("spec":{"providerSpec":)" + provider_spec + "}";
}
std::string of_group(const std::string& group) {
  return spec(R"({"value":{"apiVersion":")" + group + R"(/v1"}})");
}

std::string provider(const std::vector<Provider>& of, const json::object& c) {
  const auto found = provider_of(of, c);
  if (found.ok()) return of[*found].instance;
  return found.error().where + ": " + found.error().message;
}

TEST(ProviderOf, IsToldByTheApiGroup) {
  EXPECT_EQ(provider(two, cluster("", of_group("gcp.example"))), "gcp");
  EXPECT_EQ(provider(two, cluster("", of_group("aws.example"))), "aws");
  EXPECT_EQ(provider(two, cluster("", of_group("elsewhere"))), "rest");
  EXPECT_EQ(provider(two, cluster("")), "rest");
  EXPECT_EQ(provider(two, cluster("", spec("{}"))), "rest");
  EXPECT_EQ(provider(two, cluster("", spec(R"({"valueFrom":{"machineClass":{}}})"))), "rest");
}

TEST(ProviderOf, SaysWhatIsWrong) {
  EXPECT_EQ(provider(strict, cluster("", of_group("elsewhere"))),
            "spec.providerSpec.value.apiVersion: no actuator is configured for the API group "
            "\"elsewhere\"");
  EXPECT_EQ(provider(strict, cluster("")),
            "spec.providerSpec.value.apiVersion: names no provider: set apiVersion, such as "
            "\"aws.example/v1\"");
  EXPECT_EQ(provider(two, cluster("", spec(R"({"value":{},"valueFrom":{}})"))),
            "spec.providerSpec: has both value and valueFrom: remove one of them");
  EXPECT_EQ(provider(two, cluster("", spec(R"({"value":"text"})"))),
            "spec.providerSpec.value: must be an object");
}

TEST(ProviderOf, WhoHasBegunGoesOn) {
  const std::string by_aws = R"(,"status":{"actuator":"aws"})";
  EXPECT_EQ(provider(two, cluster("", of_group("aws.example") + by_aws)), "aws");
  EXPECT_EQ(
      provider(two, cluster("", of_group("gcp.example") + by_aws)),
      "spec.providerSpec.value.apiVersion: is for the actuator \"gcp\", but \"aws\" has begun "
      "this cluster: change it back, or delete the Cluster and make another");
  EXPECT_EQ(
      provider({{"rest", {}}}, cluster("", of_group("aws.example") + by_aws)),
      ": the actuator \"aws\" has begun this cluster (status.actuator), and is not a provider "
      "of this controller any more: configure it again");
}

std::string removers(const std::vector<Provider>& of, const json::object& c) {
  const auto found = removers_of(of, c);
  if (!found.ok()) return found.error().message;
  std::string out;
  for (const size_t i : *found) out += of[i].instance + " ";
  return out;
}

TEST(RemoversOf, IsWhoHasBegunWhateverTheSpecSays) {
  const std::string by_aws = R"("status":{"actuator":"aws"})";
  EXPECT_EQ(removers(two, cluster("", by_aws)), "aws ");
  EXPECT_EQ(removers(two, cluster("", of_group("gcp.example") + "," + by_aws)), "aws ");
  EXPECT_EQ(removers(two, cluster("", spec("7") + "," + by_aws)), "aws ");
  EXPECT_NE(removers({{"rest", {}}}, cluster("", by_aws)).find("configure it again"),
            std::string::npos);
}

// A status is lost when objects are moved to another API server.
TEST(RemoversOf, WithoutAStatusIsWhoWouldBuildItOrAll) {
  EXPECT_EQ(removers(strict, cluster("", of_group("gcp.example"))), "gcp ");
  EXPECT_EQ(removers(strict, cluster("", of_group("elsewhere"))), "aws gcp ");
  EXPECT_EQ(removers(strict, cluster("", spec(R"({"value":{},"valueFrom":{}})"))), "aws gcp ");
}

}  // namespace
}  // namespace davit::clusters

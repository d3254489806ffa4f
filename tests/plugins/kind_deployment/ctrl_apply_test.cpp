#include "ctrl_apply.hpp"

#include <gtest/gtest.h>

#include "message.hpp"

namespace davit::deployment {
namespace {

namespace json = boost::json;
using test::minimal;

// The JSON that an agent of Krane's is sent for the message. "as it is": the message itself.
// "field: reason": nothing is sent.
std::string told(const json::object& message, const Site& site = {}) {
  const auto r = apply_message(json::serialize(message), site);
  if (!r.ok()) return r.error().where + ": " + r.error().message;
  return r->empty() ? "as it is" : *r;
}
json::object told_object(const json::object& message, const Site& site = {}) {
  const std::string text = told(message, site);
  EXPECT_EQ(text.front(), '{') << text;
  return json::parse(text).as_object();
}

TEST(CtrlApply, SaysANumberOfPodsAsBoundsToo) {
  auto message = minimal();
  message["replicas"] = 3;
  const auto out = told_object(message);
  EXPECT_EQ(out.at("autoscaling"), json::value({{"min_replicas", 3}, {"max_replicas", 3}}));
  EXPECT_EQ(out.at("replicas"), 3) << "for agents that know no bounds";
  EXPECT_TRUE(read_workload(out, {}).ok());
  EXPECT_EQ(told(out), "as it is");
}

TEST(CtrlApply, AddsBehindWhatStandsThereAlready) {
  auto message = minimal();
  message["port"] = 9000;
  message["replicas"] = 3;
  const std::string text = json::serialize(message);
  EXPECT_EQ(told(message), text.substr(0, text.size() - 1) +
                               R"(,"autoscaling":{"min_replicas":3,"max_replicas":3}})");
  const auto spaced = apply_message("{ " + text.substr(1) + "\n", {});
  ASSERT_TRUE(spaced.ok());
  EXPECT_EQ(json::parse(*spaced), json::parse(told(message)));
}

TEST(CtrlApply, SaysNothingTwice) {
  auto message = minimal();
  message["autoscaling"] = nullptr;
  message["port"] = 0;
  message["replicas"] = 3;
  const std::string text = told(message);
  for (const std::string name : {"\"autoscaling\"", "\"port\""})
    EXPECT_EQ(text.find(name), text.rfind(name)) << text;
  EXPECT_TRUE(read_workload(text, {}).ok());
}

TEST(CtrlApply, LeavesBoundsAsTheyAre) {
  auto message = minimal();
  message.erase("replicas");
  message["autoscaling"] = {{"min_replicas", 2}, {"max_replicas", 5}, {"cpu_threshold", 70}};
  message["port"] = 9000;
  EXPECT_EQ(told(message), "as it is");
  Site without;
  without.autoscaling = false;
  EXPECT_EQ(told(message, without), "as it is") << "of the agent's cluster it says nothing";
}

// Krane's agent does not look at the port, and the API server refuses 0.
TEST(CtrlApply, SaysThePortThatIsMeant) {
  Site site;
  site.default_port = 3000;
  EXPECT_EQ(told_object(minimal(), site).at("port"), 3000);
  auto message = minimal();
  message["port"] = 9000;
  EXPECT_EQ(told_object(message, site).at("port"), 9000);
}

TEST(CtrlApply, DoesNotSayNoPods) {
  auto message = minimal();
  message["replicas"] = 0;
  EXPECT_TRUE(told(message).starts_with("replicas: no pods cannot be said on ctrl.v1"))
      << told(message);
  message.erase("replicas");
  Site site;
  site.absent_replicas_is_zero = true;
  EXPECT_TRUE(told(message, site).starts_with("replicas: ")) << told(message, site);
}

TEST(CtrlApply, DoesNotSayWhatKraneWouldDoWithout) {
  Site site;
  site.controllers = {Controller::deployment, Controller::replica_set};
  site.disruption_budgets = true;
  const std::pair<const char*, json::value> rows[] = {
      {"controller", "deployment"},
      {"max_surge", 1},
      {"disruption_budget", {{"min_available", "1"}}}};
  for (const auto& [field, value] : rows) {
    auto message = minimal();
    message[field] = value;
    EXPECT_TRUE(told(message, site).starts_with(std::string(field) + ": cannot be said on ctrl.v1"))
        << told(message, site);
  }
  auto message = minimal();
  message["controller"] = "replica_set";
  message["max_surge"] = 0;
  EXPECT_TRUE(told(message, site).starts_with("{")) << told(message, site);
}

TEST(CtrlApply, DoesNotSayPodsThatKraneWouldRunOtherwise) {
  auto message = minimal();
  message["pod"] = json::object{};
  EXPECT_FALSE(told(message).starts_with("pod: ")) << told(message);
  message["pod"] = {{"run_as_non_root", true}};
  EXPECT_TRUE(told(message).starts_with("pod: cannot be said on ctrl.v1")) << told(message);
}

TEST(CtrlApply, DoesNotSaySecretsThatNobodyCanRead) {
  auto message = minimal();
  auto& secrets = message["encrypted_environment_variables"];
  secrets = {{"secrets", {{"KEY", "djE6"}}}};
  EXPECT_EQ(told_object(message).at("encrypted_environment_variables"), secrets);
  message["deployment_id"] = "d_._1";
  EXPECT_TRUE(told(message).starts_with("deployment_id: ")) << told(message);
  message["deployment_id"] = "D_1";
  EXPECT_TRUE(told(message).starts_with("{")) << told(message);
  secrets = {{"$base64", "AAEC"}};
  EXPECT_TRUE(told(message).starts_with("encrypted_environment_variables: ")) << told(message);
  secrets = json::object();
  EXPECT_FALSE(told_object(message).contains("encrypted_environment_variables")) << "no secrets";
}

// What Krane's agent requires (its validation), one broken rule a row: a record that breaks one is
// not sent, whoever wrote it into the store.
TEST(CtrlApply, SaysNothingThatKranesAgentRefuses) {
  for (const char* needed :
       {"workspace_id", "project_id", "environment_id", "deployment_id", "k8s_namespace",
        "k8s_name", "image", "cpu_millicores", "memory_mib"}) {
    auto message = minimal();
    message.erase(needed);
    EXPECT_TRUE(told(message).starts_with(std::string(needed) + ": ")) << told(message);
  }
  auto message = minimal();
  message.erase("replicas");
  for (const json::value& bounds : {json::value{{"min_replicas", 0}, {"max_replicas", 2}},
                                    json::value{{"min_replicas", 3}, {"max_replicas", 2}}}) {
    message["autoscaling"] = bounds;
    EXPECT_TRUE(told(message).starts_with("autoscaling.")) << told(message);
  }
}

}  // namespace
}  // namespace davit::deployment

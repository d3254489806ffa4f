#include "policy.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::cilium {
namespace {

namespace json = boost::json;

const char* const names =
    R"("cilium_network_policy_id":"np_1","k8s_namespace":"acme","k8s_name":"allow-web")";

std::string apply_of(const std::string& policy) {
  return "{" + std::string(names) + ",\"policy\":" + policy + "}";
}

// A whole policy with these fields.
std::string apply_with(const std::string& fields) {
  return apply_of(R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy",)" + fields + "}");
}

std::string fault_of(const std::string& apply) {
  const auto r = validate(apply);
  return r.ok() ? "ok" : r.error().where + ": " + r.error().message;
}

std::string reconcile_ok(const std::string& input) {
  const auto r = reconcile(input, {});
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().message);
  return r.ok() ? *r : "{}";
}

const char* const ours =
    R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","metadata":{"name":"allow-web",
  "namespace":"acme","labels":{"app.kubernetes.io/managed-by":"krane",
  "app.kubernetes.io/component":"ciliumnetworkpolicy","unkey.com/networkpolicy.id":"np_1"}},"spec":{}})";

TEST(Policy, GoesInAsGivenUnderOurNameAndLabels) {
  const auto plan =
      json::parse(reconcile_ok(R"({"desired":)" + apply_of(R"({"apiVersion":"cilium.io/v2",
      "kind":"CiliumNetworkPolicy","metadata":{"name":"theirs","namespace":"else","labels":{"a":"b"},
      "annotations":{"why":"because"},"uid":"7"},"spec":{"endpointSelector":{"matchLabels":{"x.y/z":"1"}}},
      "status":{"x":1}})") + R"(,"observed":[]})"));
  EXPECT_EQ(plan.at("apply"), json::parse(R"([
    {"mode":"ensure","object":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme","labels":{
      "app.kubernetes.io/managed-by":"krane","app.kubernetes.io/component":"namespace"}}}},
    {"mode":"apply","object":{"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","metadata":{
      "name":"allow-web","namespace":"acme","annotations":{"why":"because"},"labels":{
        "app.kubernetes.io/managed-by":"krane","app.kubernetes.io/component":"ciliumnetworkpolicy",
        "unkey.com/networkpolicy.id":"np_1"}},
      "spec":{"endpointSelector":{"matchLabels":{"x.y/z":"1"}}}}}])"));
  EXPECT_EQ(plan.at("delete"), json::array());
  EXPECT_EQ(plan.at("status").at("health"), "progressing");
}

TEST(Policy, IsHealthyOnceItIsThere) {
  const auto plan = json::parse(reconcile_ok(R"({"desired":)" + apply_of(R"({"spec":{}})") +
                                             ",\"observed\":[" + ours + "]}"));
  EXPECT_EQ(plan.at("status").at("health"), "healthy");
  EXPECT_EQ(plan.at("status").at("ready"), 1);
}

TEST(Policy, IsUnhealthyWhenCiliumTakesItForInvalid) {
  const std::pair<const char*, const char*> rows[] = {
      {R"([{"type":"Valid","status":"False","message":"no such port"}])",
       "unhealthy 1 0 not valid: no such port"},
      {R"([{"type":"Valid","status":"False"}])", "unhealthy 1 0 not valid"},
      {R"([{"type":"Valid","status":"True","message":"fine"}])", "healthy 1 1 "},
      {R"([{"type":"Other","status":"False"}, 7])", "healthy 1 1 "},
      {"7", "healthy 1 1 "}};
  for (const auto& [conditions, expected] : rows) {
    json::value there = json::parse(ours);
    there.as_object()["status"] = {{"conditions", json::parse(conditions)}};
    const auto plan = json::parse(reconcile_ok(R"({"desired":)" + apply_of(R"({"spec":{}})") +
                                               ",\"observed\":[" + json::serialize(there) + "]}"));
    const auto& s = plan.at("status").as_object();
    EXPECT_EQ(std::string(s.at("health").as_string()) + " " + json::serialize(s.at("updated")) +
                  " " + json::serialize(s.at("ready")) + " " +
                  std::string(s.at("message").as_string()),
              expected)
        << conditions;
  }
}

TEST(Policy, IsDeletedWhenNothingIsDesiredAndThenGone) {
  auto plan = json::parse(reconcile_ok(std::string(R"({"observed":[)") + ours + "]}"));
  EXPECT_EQ(plan.at("delete"), json::parse(R"([{"group":"cilium.io","version":"v2",
      "resource":"ciliumnetworkpolicies","namespace":"acme","name":"allow-web"}])"));
  EXPECT_EQ(plan.at("status").at("gone"), false);
  plan = json::parse(reconcile_ok(R"({"observed":[]})"));
  EXPECT_EQ(plan.at("delete"), json::array());
  EXPECT_EQ(plan.at("status").at("gone"), true);
}

TEST(Policy, IsNotDeletedTwice) {
  json::value going = json::parse(ours);
  going.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const auto plan = json::parse(reconcile_ok(R"({"observed":[)" + json::serialize(going) + "]}"));
  EXPECT_EQ(plan.at("delete"), json::array());
  EXPECT_EQ(plan.at("status").at("gone"), false);
}

TEST(Policy, IsCheckedBeforeTheApiServerSeesIt) {
  const std::pair<std::string, const char*> rows[] = {
      {apply_with(R"("spec":{})"), "ok"},
      {apply_with(R"("specs":[{}])"), "ok"},
      {"{}", "cilium_network_policy_id: is missing"},
      {R"({"cilium_network_policy_id":"np","k8s_name":"a"})", "k8s_namespace: is missing"},
      {R"({"cilium_network_policy_id":"np","k8s_namespace":"a"})", "k8s_name: is missing"},
      {R"({"cilium_network_policy_id":"n p","k8s_namespace":"a","k8s_name":"b","policy":{"spec":{}}})",
       "cilium_network_policy_id: must be usable as a label (at most 63 letters, digits, \"-\", "
       "\"_\" "
       "and \".\", with a letter or digit at both ends), not \"n p\""},
      {R"({"cilium_network_policy_id":"np","k8s_namespace":"a.b","k8s_name":"b","policy":{"spec":{}}})",
       "k8s_namespace: must be a DNS label (at most 63 lower-case letters, digits and \"-\"), not "
       "\"a.b\""},
      {R"({"cilium_network_policy_id":"np","k8s_namespace":"a","k8s_name":"B","policy":{"spec":{}}})",
       "k8s_name: must be a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\"), "
       "not "
       "\"B\""},
      {apply_of("{}"), "policy: must be a CiliumNetworkPolicy as JSON, and not empty"},
      {apply_of("\"\""), "policy: must be a CiliumNetworkPolicy as JSON, and not empty"},
      {apply_of(R"({"$base64":"eA=="})"),
       "policy: must be a CiliumNetworkPolicy as JSON, and not empty"},
      {apply_of(R"({"apiVersion":"cilium.io/v2","kind":"NetworkPolicy","spec":{}})"),
       "policy.kind: must be CiliumNetworkPolicy"},
      {apply_of(R"({"apiVersion":"v1","kind":"CiliumNetworkPolicy","spec":{}})"),
       "policy.apiVersion: must be cilium.io/v2"},
      {apply_of(R"({"spec":{}})"), "ok"},
      {apply_with(R"("x":1)"), "policy: must have a spec or specs"},
      {apply_with(R"("spec":7)"), "policy.spec: must be an object"},
      {apply_with(R"("specs":{})"), "policy.specs: must be a list"},
      {"[]", ": the policy is not a JSON object"},
  };
  for (const auto& [apply, fault] : rows) EXPECT_EQ(fault_of(apply), fault) << apply;
}

// An agent of Krane's would stop at it.
TEST(Policy, WithoutTypeIsAppliedAndSentWithIt) {
  const std::string untyped = apply_of(R"({"spec":{"a":1}})");
  const auto plan = json::parse(reconcile_ok(R"({"desired":)" + untyped + "}"));
  EXPECT_EQ(plan.at("apply").at(1).at("object").at("apiVersion"), "cilium.io/v2");
  const auto told = apply_message(untyped);
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(json::parse(*told), json::parse(apply_with(R"("spec":{"a":1})")));
  EXPECT_EQ(apply_message(*told).value(), "") << "as it is";
  EXPECT_EQ(apply_message(apply_of(R"({"apiVersion":"v1","spec":{}})")).error().where,
            "policy.apiVersion");
}

TEST(Policy, IsKnownByItsLabels) {
  const auto named = attribute(ours, {});
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(*named, (Named{"np_1", "acme", "allow-web"}));
  for (const char* other :
       {"{}", R"({"kind":"CiliumNetworkPolicy","metadata":{"name":"a","namespace":"b"}})", "7"}) {
    EXPECT_FALSE(attribute(other, {}).ok()) << other;
  }
}

TEST(Policy, HasSomethingInItOrIsHeld) {
  EXPECT_TRUE(has_policy(apply_of(R"({"spec":{}})")));
  for (const char* nothing : {"{}", "\"\"", "null", R"({"$base64":""})", "[]"}) {
    EXPECT_FALSE(has_policy(apply_of(nothing))) << nothing;
  }
  EXPECT_FALSE(has_policy("garbage"));
}

TEST(Policy, SaysDeleteByNamespaceAndName) {
  EXPECT_EQ(delete_message({"np_1", "acme", "allow-web"}),
            R"({"delete":{"k8s_namespace":"acme","k8s_name":"allow-web"}})");
}

}  // namespace
}  // namespace davit::cilium

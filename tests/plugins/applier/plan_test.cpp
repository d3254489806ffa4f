// What the applier makes of an answer of a kind that it does not understand in full.
#include "plan.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

kind::Description description() {
  kind::Description d;
  d.resources = {
      {DAVIT_RESOURCE_OWNED, "", "v1", "configmaps", "ConfigMap", true, "made-by=us", {}},
      {DAVIT_RESOURCE_OWNED, "", "v1", "secrets", "Secret", true, "made-by=us", {}}};
  return d;
}

// The fault of an answer; empty: it is understood.
std::string fault_of(const std::string& output) {
  const kind::Description d = description();
  const auto plan = read_plan(output, d);
  return plan.ok() ? "" : plan.error().message;
}

std::string unknown(const std::string& member, const std::string& of) {
  return "kind: this applier does not know the member \"" + member + "\" of " + of;
}

const std::string object =
    R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}})";
std::string fault_of_secrets(const std::string& secrets, const std::string& more = {}) {
  return fault_of(R"({"apply":[{"object":{"apiVersion":"v1","kind":"Secret",)" + more +
                  R"("metadata":{"name":"a","namespace":"n"}},"secrets":)" + secrets + "}]}");
}
const std::string ref = R"("version":"v1","resource":"secrets","name":"a")";

TEST(Plan, KnowsEveryMemberOfTheContract) {
  EXPECT_EQ(fault_of(R"({"apply":[{)" + object +
                     R"(,"mode":"shared","controller":true,"replace_on_immutable":true}],
      "delete":[{"group":"","version":"v1","resource":"configmaps","namespace":"n","name":"b"}],
      "status":{"gone":false,"health":"healthy","desired":1,"updated":1,"ready":1,"stale":0,
                "message":"m","detail":{"any":1},
                "children":[{"name":"c","address":"a","status":"running","cpu_millicores":1,
                             "memory_mib":1}]},
      "needs":[],"look_again_ms":5})"),
            "");
}

TEST(Plan, RefusesAMemberThatItDoesNotKnowWhereverItStands) {
  EXPECT_EQ(fault_of(R"({"apply":[],"freeze":true})"), unknown("freeze", "the answer"));
  EXPECT_EQ(fault_of(R"({"apply":[{)" + object + R"(,"unless":"x"}]})"),
            unknown("unless", "an entry of \"apply\""));
  EXPECT_EQ(fault_of(R"({"delete":[{"version":"v1","resource":"configmaps","namespace":"n",
                         "name":"b","after":7}]})"),
            unknown("after", "an entry of \"delete\""));
  EXPECT_EQ(fault_of(R"({"status":{"health":"healthy","paused_by":"x"}})"),
            unknown("paused_by", "\"status\""));
  EXPECT_EQ(fault_of(R"({"status":{"children":[{"name":"c","gpu":1}]}})"),
            unknown("gpu", "a child of \"status\""));
  EXPECT_EQ(fault_of(R"({"needs":[{"id":"a","from":"object","ref":{)" + ref + R"(},"for":"x"}]})"),
            unknown("for", "an entry of \"needs\""));
  EXPECT_EQ(fault_of(R"({"needs":[{"id":"a","from":"object","ref":{)" + ref + R"(,"key":"x"}}]})"),
            unknown("key", "the ref of need \"a\" "));
}

TEST(Plan, ReadsWhereTheValuesOfASecretComeFrom) {
  const kind::Description d = description();
  const auto plan = read_plan(
      R"({"apply":[{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a",
      "namespace":"n"}},"secrets":[{"key":"A","decrypt":{"keyring":"k","ciphertext":"c"}},
      {"key":"b.C","read":{"ref":"r/s","field":"f","version":"7"}}]}]})",
      d);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const auto& secrets = plan->steps.at(0).secrets;
  ASSERT_EQ(secrets.size(), 2u);
  EXPECT_EQ(secrets[0].key, "A");
  EXPECT_EQ(secrets[0].item.type, DAVIT_SECRET_DECRYPT);
  EXPECT_EQ(secrets[0].item.keyring + secrets[0].item.ciphertext, "kc");
  EXPECT_EQ(secrets[1].item.type, DAVIT_SECRET_READ);
  EXPECT_EQ(secrets[1].item.ref + secrets[1].item.field + secrets[1].item.version, "r/sf7");
  const json::value& shape = plan->steps.at(0).shape();
  EXPECT_EQ(shape.at("values"), (json::object{{"A", true}, {"b.C", true}}));
}

// What is known of a Secret in the cluster says which values are as they were applied.
TEST(Plan, ShapesASecretThatHasItsValuesByTheirKeysAlone) {
  const kind::Description d = description();
  const auto plan = read_plan(
      R"({"apply":[{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a",
      "namespace":"n"},"data":{"A":"cGxhaW4=","b":""}}}]})",
      d);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const json::value& shape = plan->steps.at(0).shape();
  EXPECT_EQ(shape.at("values"), (json::object{{"A", true}, {"b", true}}));
  EXPECT_FALSE(shape.get_object().contains("data"));
}

TEST(Plan, RefusesSecretsThatNoSecretCanHave) {
  const std::string a = R"({"key":"A","decrypt":{"ciphertext":"c"}})";
  EXPECT_EQ(fault_of_secrets("[" + a + "]"), "");
  EXPECT_EQ(fault_of_secrets("[" + a + "," + a + "]"), "kind: secret \"A\" is there twice");
  EXPECT_EQ(fault_of_secrets("[" + a + "]", R"("data":{},)"),
            "kind: a Secret with both \"secrets\" and \"data\"");
  EXPECT_EQ(fault_of_secrets(R"([{"key":"A B","decrypt":{"ciphertext":"c"}}])"),
            "kind: secret \"A B\" is no key that a Secret can have");
  EXPECT_EQ(fault_of_secrets(R"([{"key":"A"}])"),
            "kind: secret \"A\" must have either \"decrypt\" or \"read\"");
  EXPECT_EQ(fault_of_secrets(R"([{"key":"A","read":{"field":"f"}}])"),
            "kind: secret \"A\" names no ref");
  EXPECT_EQ(fault_of_secrets(R"([{"key":"A","read":{"ref":"r","path":"p"}}])"),
            unknown("path", "secret \"A\""));
  EXPECT_EQ(fault_of(R"({"apply":[{)" + object + R"(,"secrets":[]}]})"),
            "kind: \"secrets\" of a ConfigMap, which is no Secret that is applied");
  EXPECT_EQ(fault_of(R"({"apply":[{"object":{"apiVersion":"v1","kind":"Secret","metadata":)"
                     R"({"name":"a","namespace":"n"}},"mode":"ensure","secrets":[]}]})"),
            "kind: \"secrets\" of a Secret, which is no Secret that is applied");
}

TEST(Plan, ReadsWhatTheKindNeedsAndNothingElse) {
  const kind::Description d = description();
  const auto plan = read_plan(R"({"needs":[{"id":"a","from":"object","ref":{"group":"g",)" + ref +
                                  R"(,"namespace":"n"}}],
          "apply":[{)" + object + "}]}",
                              d);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->steps.empty()) << "nothing is applied before";
  ASSERT_EQ(plan->needs.size(), 1u);
  EXPECT_EQ(plan->needs[0].id, "a");
  EXPECT_EQ(plan->needs[0].object.path(), "g/secrets/n/a");
}

TEST(Plan, RefusesNeedsThatItCannotMeet) {
  EXPECT_EQ(fault_of(R"({"needs":[{"id":"a","from":"vault","ref":{}}]})"),
            "kind: need \"a\" is from \"vault\", which this applier does not know: it knows "
            "\"object\"");
  EXPECT_EQ(fault_of(R"({"needs":[{"from":"object","ref":{)" + ref + "}}]}"),
            "kind: a need without an id");
  EXPECT_EQ(fault_of(R"({"needs":[{"id":"a","from":"object"}]})"), "kind: need \"a\" has no ref");
  EXPECT_EQ(fault_of(R"({"needs":[{"id":"a","from":"object","ref":{"version":"v1"}}]})"),
            "kind: need \"a\" names no version, resource or name");
  EXPECT_EQ(fault_of(R"({"needs":{}})"), "kind: \"needs\" is not a list");
  std::string many = R"({"needs":[)";
  for (int n = 0; n <= 32; ++n) {
    many += (n == 0 ? "" : ",") + (R"({"id":")" + std::to_string(n)) +
            R"(","from":"object","ref":{)" + ref + "}}";
  }
  EXPECT_EQ(fault_of(many + "]}"), "kind: more than 32 needs");
}

}  // namespace
}  // namespace davit::applier

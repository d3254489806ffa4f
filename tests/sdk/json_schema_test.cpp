// The JSON Schemas of what a kind takes and gives (sdk/schemas).
#include "json_schema.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace davit::conformance {
namespace {

// Where an answer of a kind breaks the schema, and which rule of it; empty: nowhere.
std::string broken(const JsonSchema& schema, const std::string& json) {
  const std::string fault = schema.fault(json);
  return fault.substr(0, fault.find(" of "));
}
std::string output(const std::string& json) {
  return broken(reconcile_output_schema(), json);
}
std::string input(const std::string& json) {
  return broken(reconcile_input_schema(), json);
}

const std::string object =
    R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
const std::string status = R"("status":{"health":"healthy"})";
std::string with(const std::string& members) {
  return "{" + status + "," + members + "}";
}
std::string status_with(const std::string& members) {
  return R"({"status":{"health":"healthy",)" + members + "}}";
}
std::string need_with(const std::string& members) {
  return R"({"needs":[{"id":"a","from":"object","ref":{"version":"v1","resource":"secrets","name":"a"})" +
         members + "}]}";
}

TEST(OutputSchema, TakesEveryMemberOfTheContract) {
  EXPECT_EQ(output("{" + status + "}"), "");
  EXPECT_EQ(output(with(R"("apply":[{)" + object +
                        R"(,"mode":"ensure","owner":0,"controller":true,
                           "replace_on_immutable":false}],
      "delete":[{"group":"apps","version":"v1","resource":"deployments","namespace":"n","name":"b"}],
      "needs":[],"look_again_ms":5)")),
            "");
  EXPECT_EQ(output(status_with(R"("gone":true,"desired":1,"updated":2,"ready":3,"stale":4,
      "message":"m","detail":{"any":[1]},"children":[{"name":"c","address":"a","status":"running",
      "cpu_millicores":1,"memory_mib":2}])")),
            "");
  EXPECT_EQ(output(need_with("")), "");
}

TEST(OutputSchema, RefusesAMemberThatItDoesNotKnowWhereverItStands) {
  EXPECT_EQ(output(with(R"("freeze":true)")), "#/freeze breaks \"additionalProperties\"");
  EXPECT_EQ(output(with(R"("apply":[{)" + object + R"(,"unless":1}])")),
            "#/apply/0/unless breaks \"additionalProperties\"");
  EXPECT_EQ(output(with(R"("delete":[{"version":"v1","resource":"r","name":"n","after":1}])")),
            "#/delete/0/after breaks \"additionalProperties\"");
  EXPECT_EQ(output(status_with(R"("paused_by":"x")")),
            "#/status/paused_by breaks \"additionalProperties\"");
  EXPECT_EQ(output(status_with(R"("children":[{"name":"c","status":"failed","gpu":1}])")),
            "#/status/children/0/gpu breaks \"additionalProperties\"");
  EXPECT_EQ(output(need_with(R"(,"for":"x")")), "#/needs/0/for breaks \"additionalProperties\"");
}

TEST(OutputSchema, RefusesWrongWordsTypesAndGaps) {
  EXPECT_EQ(output(R"({"status":{"health":"splendid"}})"), "#/status/health breaks \"enum\"");
  EXPECT_EQ(output(R"({"status":{}})"), "#/status breaks \"required\"");
  EXPECT_EQ(output(status_with(R"("ready":-1)")), "#/status/ready breaks \"minimum\"");
  EXPECT_EQ(output(status_with(R"("ready":"1")")), "#/status/ready breaks \"type\"");
  EXPECT_EQ(output(status_with(R"("detail":"text")")), "#/status/detail breaks \"type\"");
  EXPECT_EQ(output(with(R"("apply":[{}])")), "#/apply/0 breaks \"required\"");
  EXPECT_EQ(output(with(R"("apply":[{)" + object + R"(,"mode":"force"}])")),
            "#/apply/0/mode breaks \"enum\"");
  EXPECT_EQ(output(with(R"("delete":[{"version":"v1","resource":"r","name":""}])")),
            "#/delete/0/name breaks \"minLength\"");
  EXPECT_EQ(output(R"({"apply":[]})"), "# breaks \"anyOf\"") << "neither a status nor a question";
  EXPECT_EQ(output(R"({"needs":[{"id":"a","from":"vault","ref":{"version":"v1","resource":"s",
                       "name":"n"}}]})"),
            "#/needs/0/from breaks \"enum\"");
  EXPECT_EQ(output("[]"), "# breaks \"type\"");
  EXPECT_EQ(output("{broken").substr(0, 15), "no JSON at byte");
}

const std::string record =
    R"("record":{"id":"i","region":"r","namespace":"n","name":"a","version":"17"})";

TEST(InputSchema, TakesWhatAnApplierAsks) {
  EXPECT_EQ(input("{" + record + R"(,"observed":[],"now_unix_ms":0})"), "");
  EXPECT_EQ(
      input("{" + record + R"(,"desired":{"any":1},"observed":[{"apiVersion":"v1","kind":"Pod",
      "metadata":{"name":"p","uid":"u","resourceVersion":"7"},"status":{}}],
      "given":{"pull":null,"other":{"kind":"Secret"}},"features":["needs/object"],
      "now_unix_ms":1700000000000,"of_a_later_caller":true})"),
      "");
}

TEST(InputSchema, RefusesWhatNoCallerMaySend) {
  EXPECT_EQ(input(R"({"observed":[],"now_unix_ms":0})"), "# breaks \"required\"");
  EXPECT_EQ(input(R"({"record":{"id":"i","region":"r","namespace":"n","name":"a","version":17},
                      "observed":[],"now_unix_ms":0})"),
            "#/record/version breaks \"type\"");
  EXPECT_EQ(input("{" + record + R"(,"observed":[{"kind":"Pod"}],"now_unix_ms":0})"),
            "#/observed/0 breaks \"required\"");
  EXPECT_EQ(input("{" + record + R"(,"observed":[],"given":{"pull":"text"},"now_unix_ms":0})"),
            "#/given/pull breaks \"type\"");
}

TEST(JsonSchema, ThatIsNoJsonIsABug) {
  EXPECT_THROW(JsonSchema("{broken"), std::invalid_argument);
}

}  // namespace
}  // namespace davit::conformance

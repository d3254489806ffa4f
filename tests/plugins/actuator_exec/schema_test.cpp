// The schemas of sdk/schemas say what the plugin gives and takes.
#include <gtest/gtest.h>

#include <fstream>

#include "answer.hpp"
#include "json_schema.hpp"
#include "request.hpp"

namespace davit::actuator_exec {
namespace {

conformance::JsonSchema schema(const std::string& name) {
  std::ifstream in(std::string(SCHEMAS) + "/actuator_" + name + ".schema.json");
  return conformance::JsonSchema(std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST(Schema, OfTheInputIsKept) {
  const auto input = schema("input");
  const actuator::Call call{"default", "a \"b\"\n", "u-1", R"({"spec":{"n":1.10}})", {}};
  for (const auto operation : {Operation::reconcile, Operation::remove})
    EXPECT_EQ(input.fault(request_of(call, operation, 1'764'349'800'123)), "");
  EXPECT_NE(input.fault(R"({"apiVersion":"davit.dev/actuator/v1"})"), "");
}

TEST(Schema, OfTheOutputIsWhatIsRead) {
  const auto output = schema("output");
  const char* documents[] = {
      "{}",
      "[]",
      R"({"error":null,"events":null,"progress":null,"statusPatch":null})",
      R"({"requeueAfterSeconds":0.5,"progress":"x"})",
      R"({"requeueAfterSeconds":86401})",
      R"({"requeueAfterSeconds":"1"})",
      R"({"statusPatch":{"apiEndpoints":[],"providerStatus":5}})",
      R"({"statusPatch":{"errorReason":"x"}})",
      R"({"events":[{"type":"Normal","reason":"Made","message":"x"}]})",
      R"({"events":[{"type":"normal","reason":"Made","message":"x"}]})",
      R"({"events":[{"type":"Normal","reason":"made","message":"x"}]})",
      R"({"events":[{"type":"Normal","reason":"Made"}]})",
      R"({"error":{"code":"ABORTED","message":"x","where":"y","reason":"CreateError"}})",
      R"({"error":{"code":"ABORTED","message":"x","reason":""}})",
      R"({"error":{"code":"ABORTED","message":"x","reason":"create error"}})",
      R"({"error":{"code":"OK","message":"x"}})",
      R"({"error":{"code":"ABORTED","message":""}})",
      R"({"error":{"code":"ABORTED"}})",
      R"({"more":1})",
  };
  for (const char* document : documents)
    EXPECT_EQ(output.fault(document).empty(), read_answer(document, {}).ok()) << document;
}

}  // namespace
}  // namespace davit::actuator_exec

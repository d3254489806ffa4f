// What a program may answer, and each way in which an answer cannot be read.
#include "answer.hpp"

#include <gtest/gtest.h>

namespace davit::actuator_exec {
namespace {

std::string fault_of(std::string_view output) {
  const auto read = read_answer(output, {});
  if (read.ok()) return "read";
  EXPECT_EQ(read.error().code, Code::internal);
  return read.error().message;
}

TEST(Answer, HasWhatTheCallerIsToDo) {
  const auto read = read_answer(R"( {"requeueAfterSeconds": 0.0015, "progress": "waits\nfor x",
    "statusPatch": {"providerStatus": {"n": 9007199254740993, "f": 1.10, "u": "\u00e4"}, "apiEndpoints": null},
    "events": [{"type":"Warning","reason":"Slow","message":"It is slow."}], "error": null})"
                                "\n",
                                {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->outcome.error);
  EXPECT_EQ(read->outcome.requeue_after.count(), 2) << "never 0: that would be done";
  EXPECT_EQ(read->outcome.progress, "waits for x");
  EXPECT_EQ(
      read->outcome.status_patch,
      R"({"providerStatus": {"n": 9007199254740993, "f": 1.10, "u": "\u00e4"}, "apiEndpoints": null})");
  ASSERT_EQ(read->events.size(), 1U);
  EXPECT_TRUE(read->events[0].warning);
  EXPECT_EQ(read->events[0].reason, "Slow");
  EXPECT_EQ(read->events[0].message, "It is slow.");
}

TEST(Answer, WithoutAMemberIsASuccess) {
  const auto read = read_answer("{}", {});
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->outcome.error);
  EXPECT_EQ(read->outcome.requeue_after.count(), 0);
  EXPECT_EQ(read->outcome.status_patch, "");
}

TEST(Answer, MayBeAnErrorBesideAPatch) {
  const auto read = read_answer(
      R"({"error":{"code":"INVALID_ARGUMENT","message":"no such zone","where":"spec.zone",)"
      R"("reason":"InvalidConfiguration","retryAfterSeconds":30},"statusPatch":{"apiEndpoints":[]}})",
      {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(read->outcome.error);
  EXPECT_EQ(read->outcome.error->code, Code::invalid_argument);
  EXPECT_EQ(read->outcome.error->message, "no such zone");
  EXPECT_EQ(read->outcome.error->where, "spec.zone");
  EXPECT_EQ(read->outcome.error->retry_after, std::chrono::seconds(30));
  EXPECT_EQ(read->outcome.error_reason, "InvalidConfiguration");
  EXPECT_EQ(read->outcome.status_patch, R"({"apiEndpoints":[]})");
}

// Wherever a text is cut, and whatever stands within the value: no part of it is left.
TEST(Answer, ShowsNoPartOfAValue) {
  const std::string value = "pa55-of-the-provider";
  Covers covers;
  covers.add("TOKEN", value, 1);
  for (size_t before : {0, 30, 50, 59, 1000, 1010, 1023}) {
    const std::string text = std::string(before, '.') + value + " end";
    const auto read =
        read_answer(R"({"progress":")" + text + R"(","error":{"code":"UNAVAILABLE","message":")" +
                        text + R"(","where":")" + text +
                        R"("},"events":[{"type":"Normal",)"
                        R"("reason":"Slow","message":")" +
                        text + R"("}]})",
                    covers);
    ASSERT_TRUE(read.ok()) << read.error().message;
    for (const std::string& shown : {read->outcome.progress, read->outcome.error->message,
                                     read->outcome.error->where, read->events.at(0).message})
      EXPECT_EQ(shown.find("pa55"), std::string::npos) << shown;
    for (const std::string& document :
         {R"({")" + text + R"(":1})", R"({"error":{"code":")" + text + R"(","message":"m"}})",
          "{} " + text,
          R"({"events":[{"type":"Normal","reason":")" + text + "\",\"message\":1}]}"}) {
      const auto fault = read_answer(document, covers);
      ASSERT_FALSE(fault.ok());
      EXPECT_EQ(fault.error().message.find("pa55"), std::string::npos) << fault.error().message;
    }
  }
  const auto coloured =
      read_answer(R"({"progress":"has pa55\u001b[1m-of\u001b[0m-the-provider"})", covers);
  ASSERT_TRUE(coloured.ok());
  EXPECT_EQ(coloured->outcome.progress.find("provider"), std::string::npos)
      << coloured->outcome.progress;
}

TEST(Answer, ThatIsNoDocumentIsAFault) {
  EXPECT_EQ(fault_of(""), "it has written no answer");
  EXPECT_EQ(fault_of(" \n\t"), "it has written no answer");
  EXPECT_EQ(fault_of("[]"), "its answer is no JSON object");
  EXPECT_EQ(fault_of("null"), "its answer is no JSON object");
  EXPECT_EQ(fault_of("{\"progress\":\"\xff\"}"), "its answer is no valid UTF-8");
  EXPECT_EQ(fault_of("{} {}"),
            "its answer has \"{}\" behind its end; it must be one document and nothing else");
  EXPECT_EQ(fault_of("{}\ndone \x1b[31m!\n"),
            "its answer has \"done !\" behind its end; it must be one document and nothing else");
  EXPECT_TRUE(fault_of("rubbish").starts_with("its answer is no JSON (")) << fault_of("rubbish");
  EXPECT_TRUE(fault_of("{\"progress\":").starts_with("its answer is no JSON ("));
  EXPECT_TRUE(fault_of("{\"requeueAfterSeconds\":NaN}").starts_with("its answer is no JSON ("));
  EXPECT_TRUE(
      fault_of("{\"statusPatch\":" + std::string(5000, '[')).starts_with("its answer is no"));
}

TEST(Answer, WithAMemberThatNobodyKnowsIsAFault) {
  EXPECT_EQ(fault_of(R"({"requeueAfter":1})"), "its answer has an unknown member \"requeueAfter\"");
  EXPECT_EQ(fault_of(R"({"error":{"code":"ABORTED","message":"x","cause":1}})"),
            "its answer has an unknown member \"error.cause\"");
  EXPECT_EQ(fault_of(R"({"events":[{"type":"Normal","reason":"A","message":"x","at":1}]})"),
            "its answer has an unknown member \"events[0].at\"");
  EXPECT_EQ(fault_of(R"({"statusPatch":{"errorReason":"x"}})"),
            "its answer has an unknown member \"statusPatch.errorReason\"");
  EXPECT_EQ(fault_of(R"({"progress":"a","progress":"b"})"),
            "its answer has the member \"progress\" twice");
  EXPECT_EQ(fault_of(R"({"status\u0050atch":{}})"),
            "its answer has a member whose name is written with a backslash");
}

TEST(Answer, OfAnotherTypeIsAFaultWithItsField) {
  const std::pair<const char*, const char*> faults[] = {
      {R"({"requeueAfterSeconds":"5"})", "requeueAfterSeconds must be a number from 0 to 86400"},
      {R"({"requeueAfterSeconds":-1})", "requeueAfterSeconds must be a number from 0 to 86400"},
      {R"({"requeueAfterSeconds":1e99})", "requeueAfterSeconds must be a number from 0 to 86400"},
      {R"({"statusPatch":"{}"})", "statusPatch must be an object"},
      {R"({"events":[{"type":"Normal","reason":"lower","message":"x"}]})",
       "events[0].reason must be one word in UpperCamelCase"},
      {R"({"progress":5})", "progress must be a string"},
      {R"({"events":{}})", "events must be an array"},
      {R"({"events":[5]})", "events[0] must be an object"},
      {R"({"events":[{"type":"normal","reason":"A","message":"x"}]})",
       "events[0].type must be Normal or Warning"},
      {R"({"events":[{"type":"Normal","reason":"two words","message":"x"}]})",
       "events[0].reason must be one word in UpperCamelCase"},
      {R"({"events":[{"type":"Normal","reason":"A"}]})",
       "events[0].message must be a string that is not empty"},
      {R"({"error":"it failed"})", "error must be an object"},
      {R"({"error":{"message":"x"}})", "error.code must be a string that is not empty"},
      {R"({"error":{"code":"OK","message":"x"}})",
       "error.code must be a code such as INVALID_ARGUMENT or UNAVAILABLE, not \"OK\""},
      {R"({"error":{"code":"UNAVAILABLE","message":""}})",
       "error.message must be a string that is not empty"},
      {R"({"error":{"code":"UNAVAILABLE","message":"x","reason":"a b"}})",
       "error.reason must be one word in UpperCamelCase"},
  };
  for (const auto& [output, fault] : faults)
    EXPECT_EQ(fault_of(output), std::string("its answer is wrong: ") + fault) << output;
  std::string many = R"({"events":[)";
  for (int i = 0; i < 101; ++i)
    many += std::string(i == 0 ? "" : ",") + R"({"type":"Normal","reason":"A","message":"x"})";
  EXPECT_EQ(fault_of(many + "]}"), "its answer has more than 100 events");
}

TEST(Answer, EveryPrefixIsAFault) {
  const std::string text =
      R"({"error":{"code":"ABORTED","message":"\u00e4"},"statusPatch":{"providerStatus":[1.5,{"b":null}]}})";
  for (size_t n = 0; n < text.size(); ++n) EXPECT_NE(fault_of(text.substr(0, n)), "read") << n;
  EXPECT_EQ(fault_of(text), "read");
}

}  // namespace
}  // namespace davit::actuator_exec

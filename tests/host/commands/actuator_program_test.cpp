#include "commands/actuator_program.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

std::string request(const std::string& operation, const std::string& uid = "u-1",
                    const std::string& deadline = "2100-01-01T00:00:00.000Z") {
  return R"({"apiVersion":"davit.dev/actuator/v1","operation":")" + operation +
         R"(","namespace":"n","name":"shop","uid":")" + uid + R"(","deadline":")" + deadline +
         R"(","cluster":{"status":{"a/b":"here","n":1}},"more":1})";
}

TEST(ActuatorProgram, ReadsARequest) {
  const auto read = read_actuator_request(request("delete"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->remove);
  EXPECT_EQ(read->uid, "u-1");
  EXPECT_EQ(read->text_at("/status/a~1b"), "here");
  EXPECT_EQ(read->text_at("/status/n"), "");
  EXPECT_EQ(read->text_at("no pointer"), "");
  EXPECT_GT(read->deadline, std::chrono::steady_clock::now());
  EXPECT_FALSE(read_actuator_request(request("reconcile"))->remove);
}

TEST(ActuatorProgram, RefusesWhatIsNone) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), request("look"), request("delete", ""),
        request("delete", "../u"), request("delete", "u", "soon")}) {
    const auto read = read_actuator_request(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::invalid_argument);
  }
}

TEST(ActuatorProgram, WritesAnswers) {
  EXPECT_EQ(actuator_answer_text({}), "{}");
  EXPECT_EQ(actuator_answer_text(ActuatorAnswer::wait(std::chrono::milliseconds(1'500), "p")),
            R"({"requeueAfterSeconds":1.5E0,"progress":"p"})");
  ActuatorAnswer done;
  done.events = {{true, "Left", "It is left."}};
  EXPECT_EQ(actuator_answer_text(done),
            R"({"events":[{"type":"Warning","reason":"Left","message":"It is left."}]})");
}

// Of what others have answered to this program: it says nothing of the Cluster.
TEST(ActuatorProgram, SaysTheClusterIsWrongOnlyWhenItIs) {
  const auto text = [](Code code, const std::string& where) {
    return actuator_answer_text(ActuatorAnswer::failed({code, "m", where}, "Why"));
  };
  EXPECT_EQ(
      text(Code::invalid_argument, "metadata.name"),
      R"({"error":{"code":"INVALID_ARGUMENT","message":"m","where":"metadata.name","reason":"Why"}})");
  for (const Code code : {Code::invalid_argument, Code::unimplemented, Code::not_found}) {
    EXPECT_EQ(text(code, "agent.toml:3"),
              R"({"error":{"code":"FAILED_PRECONDITION","message":"m","reason":"Why"}})");
  }
  EXPECT_EQ(
      text(Code::deadline_exceeded, ""),
      R"({"error":{"code":"UNAVAILABLE","message":"m","reason":"Why","retryAfterSeconds":2E0}})");
}

}  // namespace
}  // namespace davit::host

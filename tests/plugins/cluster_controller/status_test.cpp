#include "status.hpp"

#include <boost/json.hpp>

#include <gtest/gtest.h>

namespace davit::clusters {
namespace {

using Phase = Found::Phase;

json::object parsed(const std::string& text) {
  return json::parse(text).as_object();
}
json::object with_status(const std::string& status, const std::string& metadata = "") {
  return parsed(R"({"metadata":{"generation":7)" + (metadata.empty() ? "" : "," + metadata) +
                R"(},"status":)" + status + "}");
}
// "Ready=True/Ready@2026-01-01T00:00:00Z: message"
std::string conditions(const json::object& status) {
  std::string out;
  for (const json::value& entry : status.at("conditions").as_array()) {
    const auto& c = entry.as_object();
    const auto text = [&](const char* key) { return std::string(c.at(key).as_string()); };
    out += text("type") + "=" + text("status") + "/" + text("reason") + "@" +
           text("lastTransitionTime") + ": " + text("message") + "\n";
  }
  return out;
}
constexpr int64_t now = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

TEST(Status, OfACleanPassHasTheGenerationAndNoError) {
  const auto status = status_of(
      with_status(
          R"({"errorReason":"CreateError","errorMessage":"x","apiEndpoints":[{"host":"h"}]})"),
      {Phase::ready, "", "", "aws"}, now);
  EXPECT_EQ(status.at("observedGeneration"), 7);
  EXPECT_EQ(status.at("actuator"), "aws");
  EXPECT_FALSE(status.contains("errorReason") || status.contains("errorMessage"));
  EXPECT_TRUE(status.contains("apiEndpoints"));
  EXPECT_EQ(conditions(status), "Ready=True/Ready@2026-01-01T00:00:00Z: \n");
}

TEST(Status, OfAFailureKeepsTheGenerationThatWasReached) {
  const auto status = status_of(with_status(R"({"observedGeneration":5})"),
                                {Phase::building, "no quota", "UpdateError", "aws"}, now);
  EXPECT_EQ(status.at("observedGeneration"), 5);
  EXPECT_EQ(status.at("errorReason"), "UpdateError");
  EXPECT_EQ(status.at("errorMessage"), "no quota");
  EXPECT_EQ(conditions(status), "Ready=False/Failed@2026-01-01T00:00:00Z: no quota\n");
}

TEST(Status, TheTimeOfAConditionIsWhenItsStatusChanged) {
  auto c = with_status("{}");
  c["status"] = status_of(c, {Phase::building, "begins", "", "aws"}, now);
  c["status"] = status_of(c, {Phase::building, "3 of 5", "", "aws"}, now + 60'000);
  EXPECT_EQ(conditions(c["status"].as_object()),
            "Ready=False/Building@2026-01-01T00:00:00Z: 3 of 5\n");
  c["status"] = status_of(c, {Phase::ready, "", "", "aws"}, now + 120'000);
  EXPECT_EQ(conditions(c["status"].as_object()), "Ready=True/Ready@2026-01-01T00:02:00Z: \n");
  const auto again = status_of(c, {Phase::ready, "", "", "aws"}, now + 900'000);
  EXPECT_EQ(json::value(again), c["status"]) << "nothing to write at a resync";
}

TEST(Status, OfADeletionSaysWhatItWaitsFor) {
  const auto status = status_of(with_status(R"({"conditions":[{"type":"Theirs","status":"True"}]})",
                                            R"("deletionTimestamp":"2026-01-01T00:00:00Z")"),
                                {Phase::removing, "two disks are left", "", ""}, now);
  const auto& list = status.at("conditions").as_array();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], json::parse(R"({"type":"Theirs","status":"True"})"));
  EXPECT_EQ(list[2].at("type"), "Deleting");
  EXPECT_EQ(list[2].at("message"), "two disks are left");
  EXPECT_EQ(list[1].at("status"), "False") << "what is being deleted is not ready";
}

TEST(Status, APauseIsSaidAndTakenBack) {
  auto c = with_status(R"({"errorReason":"CreateError","errorMessage":"x"})");
  c["status"] = status_of(c, {Phase::paused, "the annotation is set", "", ""}, now);
  EXPECT_EQ(c["status"].at("errorReason"), "CreateError") << "nothing has succeeded since";
  EXPECT_NE(conditions(c["status"].as_object()).find("Paused=True/Annotated"), std::string::npos);
  c["status"] = status_of(c, {Phase::ready, "", "", "a"}, now + 1000);
  EXPECT_NE(
      conditions(c["status"].as_object()).find("Paused=False/NotAnnotated@2026-01-01T00:00:01Z"),
      std::string::npos);
}

TEST(StatusPatch, ChangesWhatIsTheActuators) {
  auto c =
      with_status(R"({"actuator":"aws","providerStatus":{"a":1,"b":2},"observedGeneration":3})");
  ASSERT_TRUE(apply_status_patch(c, R"({"providerStatus":{"a":null,"c":3},"actuator":"gcp",
      "errorReason":"X","conditions":[],"observedGeneration":9,
      "apiEndpoints":[{"host":"h","port":6443}]})")
                  .ok());
  EXPECT_EQ(c["status"], json::parse(R"({"actuator":"aws","providerStatus":{"b":2,"c":3},
      "observedGeneration":3,"apiEndpoints":[{"host":"h","port":6443}]})"));
  for (const char* bad : {"[]", "7", "{", "null"}) EXPECT_FALSE(apply_status_patch(c, bad).ok());
  EXPECT_TRUE(apply_status_patch(c, "").ok());
}

TEST(ErrorReason, IsThatOfTheTable) {
  EXPECT_EQ(error_reason_of(Code::invalid_argument, false, false), "InvalidConfiguration");
  EXPECT_EQ(error_reason_of(Code::unimplemented, false, true), "InvalidConfiguration");
  EXPECT_EQ(error_reason_of(Code::failed_precondition, false, true), "UnsupportedChange");
  EXPECT_EQ(error_reason_of(Code::unavailable, false, false), "CreateError");
  EXPECT_EQ(error_reason_of(Code::unavailable, false, true), "UpdateError");
  EXPECT_EQ(error_reason_of(Code::invalid_argument, true, true), "DeleteError");
}

}  // namespace
}  // namespace davit::clusters

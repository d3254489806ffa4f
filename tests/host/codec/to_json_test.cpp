#include "fixture.hpp"

namespace davit::host {
namespace {

TEST(ToJson, LeavesAbsentFieldsOut) {
  EXPECT_EQ(json_of(""), "{}");
}

// What goes in as JSON comes out as the same JSON.
class Canonical : public ::testing::TestWithParam<const char*> {};

TEST_P(Canonical, SurvivesTheRoundTrip) {
  EXPECT_EQ(json_of(bytes_of(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    ToJson, Canonical,
    ::testing::Values(
        R"({"i32":-2147483648,"i64":"-9223372036854775808","u32":4294967295,"u64":"18446744073709551615"})",
        R"({"s32":-7,"s64":"-7","f32":7,"f64":"7"})", R"({"single":1.5,"real":0.1})",
        R"({"single":"NaN","real":"-Infinity"})", R"({"real":1e+300})",
        R"({"flag":true,"text":"caf\u0001é \"x\"","raw":"AAH/"})",
        R"({"health":"HEALTH_UNHEALTHY","healths":["HEALTH_HEALTHY",17]})",
        R"({"limits":{"cpu_millicores":"250","min_replicas":0,"inner":{}}})",
        R"({"command":["a","","b"],"numbers":["1","-2"],"all_limits":[{},{"cpu_millicores":"1"}]})",
        R"({"labels":{"a":"1","b":""},"by_number":{"-3":{"cpu_millicores":"5"}},"by_flag":{"true":"yes"}})",
        R"({"apply":""})", R"({"remove":false})", R"({"build_id":""})",
        R"({"healthcheck":{"method":"GET","path":"/","intervalSeconds":10}})",
        R"({"healthcheck":[1.0,1e3,null]})", R"({"healthcheck":"text"})",
        R"({"healthcheck":false})", R"({"policy":{"a":{"b":[]}},"documents":[{},[],7]})",
        R"({"at":"2026-01-02T03:04:05Z","lasts":"1.500s"})", R"({"free_form":{"a":[1,null,"x"]}})",
        R"({"anything":null})", R"({"anything":{"a":true}})", R"({"wrapped":"w"})",
        R"({"healthcheck":{"$base64":""}})", R"({"healthcheck":{"$base64":"AAH/"}})",
        R"({"healthcheck":{"$base64":"bnVsbA=="}})"));

TEST(ToJson, ShowsJsonBytesNestedAndKeepsTheirNumbers) {
  const std::string spaced =
      bytes_of(R"({"policy": {"$base64": "eyAiYSIgOiAxLjAgfQ=="}})");  // { "a" : 1.0 }
  EXPECT_NE(spaced.find("{ \"a\" : 1.0 }"), std::string::npos);
  EXPECT_EQ(json_of(spaced), R"({"policy":{"a":1.0}})");
}

TEST(ToJson, ShowsBytesThatAreNoJsonAsBase64) {
  const std::string bad = "\xca\x01\x03{\"x";  // field 25: {"x
  EXPECT_EQ(json_of(bad), R"({"healthcheck":{"$base64":"eyJ4"}})");
  EXPECT_EQ(bytes_of(json_of(bad)), bad);
}

TEST(ToJson, RefusesWhatIsNoMessage) {
  const auto r = to_json(sample(), everything, "\xff\xff\xff");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::invalid_argument);
  EXPECT_EQ(r.error().message, "the bytes are not a sample.v1.Everything");
  EXPECT_FALSE(to_json(sample(), everything, "\x62\x01\xff").ok());  // a string that is not UTF-8
  EXPECT_EQ(to_json(sample(), "sample.v1.Nothing", "").error().message,
            "message type \"sample.v1.Nothing\" is not in the descriptor set");
}

TEST(ToJson, LeavesUnknownFieldsOut) {
  EXPECT_EQ(*to_json(sample(), "sample.v1.Limits", "\x08\x05\x9a\x06\x03new"),
            R"({"cpu_millicores":"5"})");
}

TEST(ToJson, PrintsLimitsOfDepth) {
  const auto nested = [](int depth) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) {
      std::string length;
      for (size_t n = bytes.size();; n >>= 7) {
        length += static_cast<char>(n > 127 ? (n & 127) | 128 : n);
        if (n <= 127) break;
      }
      bytes = "\x1a" + length + bytes;
    }
    return bytes;
  };
  EXPECT_TRUE(to_json(sample(), "sample.v1.Limits", nested(99)).ok());
  EXPECT_FALSE(to_json(sample(), "sample.v1.Limits", nested(200)).ok());
}

}  // namespace
}  // namespace davit::host

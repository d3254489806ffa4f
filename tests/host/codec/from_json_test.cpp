#include "fixture.hpp"

namespace davit::host {
namespace {

struct Bad {
  const char* json;
  const char* where;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Bad& bad) {
  return out << bad.json;
}

class Refuses : public ::testing::TestWithParam<Bad> {};

TEST_P(Refuses, WithThePathAndTheReason) {
  const auto r = from_json(sample(), everything, GetParam().json);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::invalid_argument);
  EXPECT_EQ(r.error().where, GetParam().where);
  EXPECT_EQ(r.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    FromJson, Refuses,
    ::testing::Values(
        Bad{R"({"limits":{"cpu_milicores":1}})", "limits.cpu_milicores",
            R"(unknown field, did you mean "cpu_millicores"?)"},
        Bad{R"({"nothing_like_it":1})", "nothing_like_it", "unknown field"},
        Bad{R"([])", "", "must be an object, not an array"},
        Bad{R"({"i32":"abc"})", "i32", R"(must be an integer, not "abc")"},
        Bad{R"({"i32":2147483648})", "i32",
            "must be between -2147483648 and 2147483647, not 2147483648"},
        Bad{R"({"u32":-1})", "u32", "must be between 0 and 4294967295, not -1"},
        Bad{R"({"u64":"18446744073709551616"})", "u64",
            "must be between 0 and 18446744073709551615, not 18446744073709551616"},
        Bad{R"({"i64":1.5})", "i64", "must be a whole number, not 1.5"},
        Bad{R"({"i64":1e400})", "i64",
            "must be between -9223372036854775808 and 9223372036854775807, not 1e400"},
        Bad{R"({"i32":true})", "i32", "must be an integer, not true"},
        Bad{R"({"i32":{}})", "i32", "must be an integer, not an object"},
        Bad{R"({"i32":""})", "i32", R"(must be an integer, not "")"},
        Bad{R"({"i32":" 1"})", "i32", R"(must be an integer, not " 1")"},
        Bad{R"({"single":1e300})", "single", "is out of range: 1e300"},
        Bad{R"({"real":1E2000000000})", "real", "is out of range: 1E2000000000"},
        Bad{R"({"real":"1,5"})", "real", R"(must be a number, not "1,5")"},
        Bad{R"({"real":[]})", "real", "must be a number, not an array"},
        Bad{R"({"flag":"true"})", "flag", "must be true or false, not a string"},
        Bad{R"({"flag":1})", "flag", "must be true or false, not a number"},
        Bad{R"({"text":1})", "text", "must be a string, not a number"},
        Bad{R"({"raw":"***"})", "raw", "must be base64 text"},
        Bad{R"({"raw":"AAA=A"})", "raw", "must be base64 text"},
        Bad{R"({"health":"HEALTH_HEALTY"})", "health",
            R"(unknown value "HEALTH_HEALTY", did you mean "HEALTH_HEALTHY"?)"},
        Bad{R"({"health":"nonsense at all"})", "health",
            "unknown value \"nonsense at all\" (one of HEALTH_UNSPECIFIED, HEALTH_HEALTHY, "
            "HEALTH_UNHEALTHY)"},
        Bad{R"({"health":[]})", "health", "must be a name, not an array"},
        Bad{R"({"limits":"x"})", "limits", "must be an object, not a string"},
        Bad{R"({"command":"x"})", "command", "must be an array, not a string"},
        Bad{R"({"command":["a",1]})", "command[1]", "must be a string, not a number"},
        Bad{R"({"command":["a",null]})", "command[1]", "must not be null"},
        Bad{R"({"all_limits":[{},{"inner":{"min_replicas":-4}}]})",
            "all_limits[1].inner.min_replicas", "must be between 0 and 4294967295, not -4"},
        Bad{R"({"labels":[]})", "labels", "must be an object, not an array"},
        Bad{R"({"labels":{"a b":1}})", R"(labels["a b"])", "must be a string, not a number"},
        Bad{R"({"labels":{"a":"1","a":"2"}})", R"(labels["a"])", "is given twice"},
        Bad{R"({"by_number":{"x":{}}})", R"(by_number["x"])", R"(must be an integer, not "x")"},
        Bad{R"({"by_flag":{"yes":""}})", R"(by_flag["yes"])",
            R"(key must be true or false, not "yes")"},
        Bad{R"({"i32":1,"i32":2})", "i32", "is given twice"},
        Bad{R"({"build_id":"a","buildId":"b"})", "buildId", "is given twice"},
        Bad{R"({"apply":"a","remove":true})", "remove",
            R"(only one field of "change" may be given)"},
        Bad{R"({"at":"yesterday"})", "at",
            "is not the JSON of a google.protobuf.Timestamp (found a string)"},
        Bad{R"({"policy":{"$base64":"*"}})", "policy", "\"$base64\" must be base64 text"},
        Bad{R"({"i32":)", "", "not valid JSON at line 1, column 8: incomplete JSON"}));

struct Good {
  const char* json;
  const char* canonical;
};
std::ostream& operator<<(std::ostream& out, const Good& good) {
  return out << good.json;
}

class Takes : public ::testing::TestWithParam<Good> {};

TEST_P(Takes, WhatProto3JsonAllows) {
  EXPECT_EQ(json_of(bytes_of(GetParam().json)), GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(
    FromJson, Takes,
    ::testing::Values(
        Good{R"({"i64":12})", R"({"i64":"12"})"}, Good{R"({"i32":"12"})", R"({"i32":12})"},
        Good{R"({"i32":1e3})", R"({"i32":1000})"}, Good{R"({"i32":5.0})", R"({"i32":5})"},
        Good{R"({"i32":-0})", "{}"}, Good{R"({"buildId":"b"})", R"({"build_id":"b"})"},
        Good{R"({"i32":null,"limits":null,"command":null})", "{}"},
        Good{R"({"apply":"a","remove":null})", R"({"apply":"a"})"},
        Good{R"({"real":"1.5","single":2})", R"({"single":2,"real":1.5})"},
        Good{R"({"real":1e-400})", "{}"}, Good{R"({"real":1E-400})", "{}"},
        Good{R"({"real":1e-2000000000})", "{}"}, Good{R"({"real":1E-2000000000})", "{}"},
        Good{R"({"real":"1E-2000000000","single":1E-2000000000})", "{}"},
        Good{R"({"health":2})", R"({"health":"HEALTH_UNHEALTHY"})"},
        Good{R"({"health":77})", R"({"health":77})"}, Good{R"({"raw":"_-8"})", R"({"raw":"/+8="})"},
        Good{R"({"raw":""})", "{}"},
        Good{R"({"healthcheck": { "b" : 1 , "a" : [ ] } })", R"({"healthcheck":{"b":1,"a":[]}})"}));

TEST(FromJson, GivesEqualBytesForEqualMaps) {
  EXPECT_EQ(bytes_of(R"({"labels":{"a":"1","b":"2","c":"3"}})"),
            bytes_of(R"({"labels":{"c":"3","b":"2","a":"1"}})"));
}

TEST(FromJson, MakesCompactBytesOfNestedJson) {
  EXPECT_EQ(bytes_of(R"({"healthcheck": { "a" : 1 } })"), "\xca\x01\x07{\"a\":1}");
}

}  // namespace
}  // namespace davit::host

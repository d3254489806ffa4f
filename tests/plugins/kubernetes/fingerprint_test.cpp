#include "kubernetes/fingerprint.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

uint64_t project(const char* observed, const char* shape) {
  const json::value o = json::parse(observed), s = json::parse(shape);
  return projection(&o, s);
}
uint64_t print(const char* text) {
  return fingerprint(json::parse(text));
}

TEST(Projection, EqualsTheShapeWhenNothingDrifted) {
  const char* shape = R"({"spec":{"replicas":2,"list":[{"a":1},{"b":"x"}]}})";
  EXPECT_EQ(
      project(
          R"({"spec":{"list":[{"a":1,"z":0},{"b":"x"}],"replicas":2,"added":true},"status":{}})",
          shape),
      print(shape));
}

TEST(Projection, SeesEveryChangeOfWhatWasApplied) {
  const char* shape = R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"}],"none":null}})";
  const uint64_t same = print(shape);
  for (const char* drifted : {
           R"({"spec":{"replicas":3,"on":true,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"replicas":"2","on":true,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"replicas":2,"on":false,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"on":true,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"replicas":2,"on":true,"list":[{"b":"x"},{"a":1}]}})",
           R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"},{}]}})",
           R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"}],"none":0}})",
           R"({"spec":7})",
           R"({})",
       }) {
    EXPECT_NE(project(drifted, shape), same) << drifted;
  }
  EXPECT_EQ(project(R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"}]}})", shape), same)
      << "an absent member is what null asks for";
}

TEST(Fingerprint, DoesNotDependOnTheOrderOfMembers) {
  EXPECT_EQ(print(R"({"a":1,"b":{"c":2,"d":3}})"), print(R"({"b":{"d":3,"c":2},"a":1})"));
  EXPECT_NE(print(R"({"a":1,"b":2})"), print(R"({"a":2,"b":1})"));
  EXPECT_NE(print(R"(["a","b"])"), print(R"(["b","a"])"));
}

TEST(Fingerprint, TellsValuesOfDifferentTypesApart) {
  const char* const all[] = {"1",  "0", "-1", "1.5",  "\"1\"", "\"\"", "true", "false",
                             "13", "7", "2",  "null", "[]",    "{}",   "[1]",  "\"true\""};
  for (const char* a : all) {
    for (const char* b : all) EXPECT_EQ(print(a) == print(b), a == b) << a << " and " << b;
  }
}

}  // namespace
}  // namespace davit::kubernetes

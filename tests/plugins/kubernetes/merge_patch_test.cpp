#include "kubernetes/merge_patch.hpp"

#include <boost/json.hpp>

#include <gtest/gtest.h>

#include "kubernetes/times.hpp"

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

json::object parsed(const char* text) {
  return json::parse(text).as_object();
}

// The examples of RFC 7386, appendix A, whose target and patch are objects.
TEST(MergePatch, FollowsTheExamplesOfTheRfc) {
  const char* const examples[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, result] : examples) {
    json::object made = parsed(target);
    merge_patch(made, parsed(patch));
    EXPECT_EQ(json::value(made), json::parse(result)) << target << " and " << patch;
  }
}

TEST(MergePatch, BetweenTwoValuesMakesTheSecondOfTheFirst) {
  const char* const values[] = {
      R"({})",
      R"({"a":1})",
      R"({"a":{"b":1,"c":[1,2]}})",
      R"({"a":{"b":{}},"d":"x"})",
      R"({"a":[{"b":1}],"d":{"e":{"f":true}}})",
      R"({"a":"text","d":{"e":{}}})",
  };
  for (const char* before : values) {
    for (const char* wanted : values) {
      json::object made = parsed(before);
      const json::object patch = merge_patch_between(made, parsed(wanted));
      EXPECT_EQ(patch.empty(), json::parse(before) == json::parse(wanted));
      merge_patch(made, patch);
      EXPECT_EQ(json::value(made), json::parse(wanted)) << before << " to " << wanted;
    }
  }
}

TEST(MergePatch, BetweenNamesOnlyWhatDiffers) {
  const auto patch = merge_patch_between(parsed(R"({"same":{"x":1},"in":{"a":1,"b":2}})"),
                                         parsed(R"({"same":{"x":1},"in":{"a":1,"b":3}})"));
  EXPECT_EQ(json::serialize(patch), R"({"in":{"b":3}})");
}

TEST(Times, AreWrittenInWholeSeconds) {
  EXPECT_EQ(time_text(1'775'000'000'999), "2026-03-31T23:33:20Z");
  EXPECT_EQ(unix_ms_of(time_text(1'775'000'000'000)), 1'775'000'000'000);
}

}  // namespace
}  // namespace davit::kubernetes

#include "codec/json.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

std::string compact(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return "error: " + json.error().message;
  std::string out;
  json->write(out);
  return out;
}

TEST(Json, WritesCompactAndKeepsNumbersAndOrder) {
  EXPECT_EQ(compact(" { \"b\" : [ 1.0 , 1e3, -0.50 ], \"a\" : null } "),
            R"({"b":[1.0,1e3,-0.50],"a":null})");
  EXPECT_EQ(compact("18446744073709551616123"), "18446744073709551616123");
  EXPECT_EQ(compact("0.1000000000000000055511151231257827"),
            "0.1000000000000000055511151231257827");
  EXPECT_EQ(compact(R"("a\u00e9\n\"\\ \u0001 \ud83d\ude00")"),
            "\"a\u00e9\\n\\\"\\\\ \\u0001 \U0001F600\"");
  EXPECT_EQ(compact("[]"), "[]");
  EXPECT_EQ(compact("{}"), "{}");
}

TEST(Json, NamesLineAndColumnOfAFault) {
  EXPECT_EQ(compact("{\n  \"a\": 1,\n  x\n}"),
            "error: not valid JSON at line 3, column 3: syntax error");
  EXPECT_EQ(compact("{} {}"), "error: not valid JSON at line 1, column 4: text after the end");
  EXPECT_EQ(compact(""), "error: not valid JSON at line 1, column 1: incomplete JSON");
  EXPECT_NE(compact("[1,]").find("error"), std::string::npos);
  EXPECT_NE(compact("\"\xff\"").find("error"), std::string::npos);
  EXPECT_NE(compact("01").find("error"), std::string::npos);
  EXPECT_NE(compact("nul").find("error"), std::string::npos);
}

TEST(Json, RefusesWhatIsTooDeepOrTooLarge) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(compact(deep), deep);
  EXPECT_NE(compact(std::string(101, '[') + std::string(101, ']')).find("error"),
            std::string::npos);
  EXPECT_NE(compact(std::string(1'000'000, '[')).find("error"), std::string::npos);
  std::string many = "[";
  for (int i = 0; i < 1'000'001; ++i) many += "0,";
  EXPECT_EQ(compact(many + "0]"), "error: JSON has more than 1000000 values");
  EXPECT_EQ(compact(std::string(Json::bytes_max + 1, ' ')),
            "error: JSON of 16777217 bytes is larger than the limit of 16777216");
}

TEST(Json, ComparesByMeaning) {
  const auto same = [](std::string_view a, std::string_view b) {
    return same_json(*Json::parse(a), *Json::parse(b));
  };
  EXPECT_TRUE(same(R"({"a":1,"b":[true]})", R"({ "b":[true], "a":1.0 })"));
  EXPECT_TRUE(same("100", "1e2"));
  EXPECT_TRUE(same("0.10", "1E-1"));
  EXPECT_TRUE(same("-0.0", "0"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same("[1,2]", "[1]"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":null})"));
  EXPECT_FALSE(same("\"1\"", "1"));
  EXPECT_FALSE(same("-1", "1"));
  EXPECT_TRUE(same(R"({"a":1,"a":2})", R"({"a":2})"));
  EXPECT_TRUE(same("1e2000000000", "1e2000000000"));
  EXPECT_FALSE(same("1e2000000000", "10e1999999999"));  // beyond all use: compared as text
}

}  // namespace
}  // namespace davit::host

// Parts of texts that are JSON, and of those that are cut off.
#include "kubernetes/json_scan.hpp"

#include <gtest/gtest.h>

namespace davit::kubernetes {
namespace {

TEST(JsonScan, FindsMembersWithoutBeingMisled) {
  const std::string_view text =
      R"( {"a":"}{\"","b" : {"a":[1,{"x":"]"}],"c":12},"type":"ADDED","e":null} )";
  EXPECT_EQ(json_member(text, "a"), R"("}{\"")");
  EXPECT_EQ(json_at(text, {"b", "a"}), R"([1,{"x":"]"}])");
  EXPECT_EQ(json_at(text, {"b", "c"}), "12");
  EXPECT_EQ(json_plain_string(json_member(text, "type")), "ADDED");
  EXPECT_FALSE(json_plain_string(json_member(text, "a")));
  EXPECT_FALSE(json_member(text, "x"));
  std::string items;
  json_elements(*json_at(text, {"b", "a"}),
                [&](std::string_view e) { items += std::string(e) + ";"; });
  EXPECT_EQ(items, R"(1;{"x":"]"};)");
}

TEST(JsonScan, EveryPrefixIsSurvived) {
  const std::string text = R"({"a":"\"","b":{"c":[1,{"d":"e"}]},"f":tru})";
  for (size_t n = 0; n <= text.size(); ++n) {
    const std::string part = text.substr(0, n);  // its own allocation: reading beyond would show
    json_member(part, "nope");
    json_at(part, {"b", "c"});
    json_elements(part, [](std::string_view) {});
    json_members(part, [](std::string_view, std::string_view) {});
    json_elements("[" + part, [](std::string_view) {});
  }
}

TEST(JsonScan, MembersAreVisitedAsTheyAreWritten) {
  std::string members;
  json_members(R"( {"a" : 1.10, "b":{"a":2}, "a":"\u0041", "\u0061":[ 1 ]} )",
               [&](std::string_view name, std::string_view value) {
                 members += std::string(name) + "=" + std::string(value) + ";";
               });
  EXPECT_EQ(members, R"(a=1.10;b={"a":2};a="\u0041";\u0061=[ 1 ];)");
}

}  // namespace
}  // namespace davit::kubernetes

#include "added.hpp"

#include <gtest/gtest.h>

namespace davit::streamer {
namespace {

TEST(Added, IsWhatTheSecondObjectHasBeyondTheFirst) {
  EXPECT_EQ(added(R"({"a":1,"b":"x"})", R"({"a":1,"b":"x"})"), "{}");
  EXPECT_EQ(added("{}", "{}"), "{}");
  EXPECT_EQ(added("{}", R"({"a":1})"), R"({"a":1})");
  EXPECT_EQ(added(R"({"a":1})", R"({"z":[1,{"q":2}],"a":1,"c":{"d":"}"}})"),
            R"({"z":[1,{"q":2}],"c":{"d":"}"}})");
}

TEST(Added, FindsWhatWasAppendedWhateverItsNames) {
  const char* before = R"({"a":{"c":"\"}"},"b":2})";
  EXPECT_EQ(added(before, R"({"a":{"c":"\"}"},"b":2,"d":{"e":[3]},"f":4})"),
            R"({"d":{"e":[3]},"f":4})");
  EXPECT_EQ(added(before, R"({"a":{"c":"\"}"},"b":2,"c":5})"), R"({"c":5})")
      << "a name that stands within another member";
  EXPECT_EQ(added(before, R"({"a":{"c":"\"}"},"b":2,"b":5})"), std::nullopt);
}

TEST(Added, ReadsOverQuotesAndBracketsInTexts) {
  EXPECT_EQ(added(R"({"a":"\\\"},{","b\"":"\\"})", R"({"a":"\\\"},{","b\"":"\\","c":true})"),
            R"({"c":true})");
}

TEST(Added, IsNothingWhereAnythingElseDiffers) {
  const char* before = R"({"a":1,"b":{"c":2}})";
  for (const char* after :
       {R"({"a":1})",                    // one is gone
        R"({"a":2,"b":{"c":2}})",        // another value
        R"({"a":1,"b":{"c":2,"d":3}})",  // within a member
        R"({"b":{"c":2},"a":1})",        // another order
        R"({"a":1,"b":{"c":2},"a":3})",  // given twice
        R"({"a":1,"b":{"c":2}}{"d":1})", R"({"a":1,"b":{"c":2})", R"({"a":1,"b":{"c":2},})",
        R"({"a":1,"b":{"c":2},"d":"x})", R"({"a":1,"b":{"c":2}])", R"({"a":1,"b":{"c":2},"d"})",
        R"({"a":1, "b":{"c":2}})", "[]", "", "{", "null"}) {
    EXPECT_EQ(added(before, after), std::nullopt) << after;
  }
  EXPECT_EQ(added("", R"({"a":1})"), std::nullopt);
}

}  // namespace
}  // namespace davit::streamer

#include "fixture.hpp"

namespace davit::host {
namespace {

bool equal(std::string_view a, std::string_view b) {
  return equal_messages(sample(), everything, a, b);
}

TEST(Equal, IgnoresTheOrderOfFields) {
  EXPECT_TRUE(equal("\x08\x01\x10\x02", "\x10\x02\x08\x01"));
  EXPECT_FALSE(equal("\x08\x01\x10\x02", "\x10\x02\x08\x02"));
}

TEST(Equal, IgnoresExplicitDefaults) {
  EXPECT_TRUE(equal(std::string_view("\x08\x00", 2), ""));
}

TEST(Equal, TellsAbsentFromEmptyWhenTheFieldHasPresence) {
  EXPECT_FALSE(equal(bytes_of(R"({"build_id":""})"), ""));
}

TEST(Equal, IgnoresTheOrderOfMapEntries) {
  const std::string a = "\x9a\x01\x06\x0a\x01"
                        "a\x12\x01"
                        "1",
                    b = "\x9a\x01\x06\x0a\x01"
                        "b\x12\x01"
                        "2";
  EXPECT_TRUE(equal(a + b, b + a));
  EXPECT_FALSE(equal(a + b, a));
}

TEST(Equal, RespectsUnknownFields) {
  const std::string unknown = "\x9a\x7d\x03new";
  EXPECT_FALSE(equal("\x08\x01", "\x08\x01" + unknown));
  EXPECT_TRUE(equal("\x08\x01" + unknown, unknown + "\x08\x01"));
}

TEST(Equal, ComparesJsonFieldsAsJson) {
  const auto policy = [](const std::string& json) {
    return "\xd2\x01" + std::string(1, static_cast<char>(json.size())) + json;
  };
  EXPECT_TRUE(equal(policy(R"({"a":1,"b":2})"), policy(R"({ "b": 2.0, "a": 1 })")));
  EXPECT_FALSE(equal(policy(R"({"a":1})"), policy(R"({"a":2})")));
  EXPECT_FALSE(equal(policy("{not json"), policy("{not json ")));
  EXPECT_TRUE(equal("\x08\x01" + policy("{no"), policy("{no") + "\x08\x01"));
}

TEST(Equal, ComparesOtherBytesAsBytes) {
  EXPECT_FALSE(equal("\x6a\x02{}", "\x6a\x03{ }"));
}

TEST(Equal, BytesThatAreNoMessageEqualOnlyThemselves) {
  EXPECT_TRUE(equal("\xff", "\xff"));
  EXPECT_FALSE(equal("\xff", "\xff\xff"));
  EXPECT_FALSE(equal("\xff", ""));
}

}  // namespace
}  // namespace davit::host

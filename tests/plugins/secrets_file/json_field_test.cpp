// One field of a plaintext.
#include "json_field.hpp"

#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

// The value, or "CODE message".
std::string field_of(const std::string& plaintext, const std::string& name) {
  const auto value = json_field(plaintext, name);
  if (value.ok()) return std::string(value->view());
  return std::to_string(static_cast<int>(value.error().code)) + " " + value.error().message;
}

TEST(JsonField, IsATextANumberTrueOrFalseAsItIsWritten) {
  const std::string object =
      " {\"text\": \"a \\\"b\\\" \\u00e9\\ud83d\\ude00\\n\", \"empty\":\"\", \"port\": 5432,"
      "\"real\": 1.50e+3, \"big\": 12345678901234567890123, \"minus\": -0, \"yes\": true,"
      "\"no\": false, \"\": \"no name\"}\n";
  EXPECT_EQ(field_of(object, "text"), "a \"b\" é😀\n");
  EXPECT_EQ(field_of(object, "empty"), "");
  EXPECT_EQ(field_of(object, "port"), "5432");
  EXPECT_EQ(field_of(object, "real"), "1.50e+3");
  EXPECT_EQ(field_of(object, "big"), "12345678901234567890123");
  EXPECT_EQ(field_of(object, "minus"), "-0");
  EXPECT_EQ(field_of(object, "yes"), "true");
  EXPECT_EQ(field_of(object, "no"), "false");
}

TEST(JsonField, IsOfTheOutermostObjectAlone) {
  const std::string object =
      "{\"a\": {\"x\": \"inner\", \"b\": [{\"x\": 1}]}, \"l\": [\"x\", {\"x\": 2}],"
      "\"x\": \"outer\", \"z\": {\"x\": 3}}";
  EXPECT_EQ(field_of(object, "x"), "outer");
  EXPECT_EQ(field_of(object, "b"), "5 has no such field");
  EXPECT_EQ(field_of(object, "a"),
            "3 its field is an object: a field has a text, a number, true or false");
  EXPECT_EQ(field_of(object, "l"),
            "3 its field is an array: a field has a text, a number, true or false");
}

TEST(JsonField, NamesAreComparedAsTheyAreMeant) {
  const std::string object =
      "{\"pass\\u0077ord\": \"1\", \"passwor\": \"2\", \"passwords\": \"3\"}";
  EXPECT_EQ(field_of(object, "password"), "1");
  EXPECT_EQ(field_of(object, "passwor"), "2");
  EXPECT_EQ(field_of(object, "passwords"), "3");
  EXPECT_EQ(field_of(object, "pass"), "5 has no such field");
}

TEST(JsonField, NullAndWhatIsThereTwiceHaveNoValue) {
  EXPECT_EQ(field_of("{\"x\": null}", "x"),
            "3 its field is null: a field has a text, a number, true or false");
  EXPECT_EQ(field_of("{\"x\": \"1\", \"y\": 0, \"x\": \"2\"}", "x"), "3 has the field twice");
  EXPECT_EQ(field_of("{\"x\": \"1\", \"x\": null}", "x"), "3 has the field twice");
}

TEST(JsonField, WhatIsNoObjectHasNoFields) {
  std::string deep;
  for (int n = 0; n < 100'000; ++n) deep += "{\"x\":";
  for (const std::string& text :
       {std::string(), std::string("plain"), std::string("\"x\""), std::string("[{\"x\": 1}]"),
        std::string("{\"x\": 1"), std::string("{\"x\": 1} {\"x\": 2}"), std::string("{\"x\": 1}x"),
        std::string("{x: 1}"), std::string("{\"x\": \"\xff\"}"), std::string("{\"x\": 01}"), deep})
    EXPECT_EQ(field_of(text, "x"), "5 is no JSON object, so it has no fields")
        << text.substr(0, 30);
}

TEST(JsonField, MayBeLongerThanTheParsersBuffers) {
  std::string value;
  for (int n = 0; n < 5'000; ++n) value += "\\u0041b\\n0123456789";
  std::string meant;
  for (int n = 0; n < 5'000; ++n) meant += "Ab\n0123456789";
  const std::string name(10'000, 'n');
  EXPECT_EQ(field_of("{\"" + name + "\": \"" + value + "\"}", name), meant);
}

}  // namespace
}  // namespace davit::secrets_file

#include "document.hpp"

#include <gtest/gtest.h>

namespace davit::intents {
namespace {

// "field: message" of what is refused; "ok" otherwise.
std::string said(const std::string& text) {
  const auto r = parse_document(text);
  if (r.ok()) return "ok";
  EXPECT_EQ(r.error().code, Code::invalid_argument);
  return r.error().where + ": " + r.error().message;
}

TEST(IntentDocument, HasWhatAnOperatorWrites) {
  const auto d = parse_document(R"({"kind": "k", "region": "r", "id": "i", "state": "on",
      "annotations": {"a": "b"}, "spec": {"n": 9007199254740993, "x": 0.1}, "expect": 7})");
  ASSERT_TRUE(d.ok()) << d.error().message;
  EXPECT_EQ(d->key, (Key{"k", "r", "i"}));
  EXPECT_EQ(d->state, "on");
  EXPECT_EQ(d->annotations, (Pairs{{"a", "b"}}));
  EXPECT_EQ(d->spec, R"({"n":9007199254740993,"x":1E-1})");
  EXPECT_EQ(d->expect, Version(7));
  EXPECT_FALSE(d->remove);
}

TEST(IntentDocument, Deletes) {
  const auto d = parse_document(R"({"kind": "k", "region": "r", "id": "i", "delete": true})");
  ASSERT_TRUE(d.ok()) << d.error().message;
  EXPECT_TRUE(d->remove);
  EXPECT_EQ(d->expect, any_version);
}

TEST(IntentDocument, ExpectsNone) {
  EXPECT_EQ(parse_document(R"({"expect": 0})")->expect, Version());
}

TEST(IntentDocument, NamesTheMemberThatIsWrong) {
  const std::string no_version =
      "expect: must be a version, or 0 when there must be no such record";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"kind": 1})", "kind: must be a string"},
      {R"({"id": null})", "id: must be a string"},
      {R"({"spec": []})", "spec: must be an object"},
      {R"({"annotations": "a"})", "annotations: must be an object"},
      {R"({"annotations": {"a": 1}})", "annotations.a: must be a string"},
      {R"({"delete": "yes"})", "delete: must be true or false"},
      {R"({"expect": -1})", no_version},
      {R"({"expect": 1.0})", no_version},
      {R"({"expect": "1"})", no_version},
      {R"({"expect": 18446744073709551615})", no_version},
      {R"({"knd": "k"})",
       "knd: unknown member (known are kind, region, id, state, annotations, spec, delete and "
       "expect)"},
      {"[]", ": must be a JSON object with kind, region and spec"},
      {"\"text\"", ": must be a JSON object with kind, region and spec"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(said(text), expected) << text;
}

TEST(IntentDocument, SaysWhereTheTextIsNoJson) {
  for (const char* text : {"", "{", "{]", "hello", "{} {}", "{\"kind\": \"k\",}"})
    EXPECT_TRUE(said(text).starts_with(": is not JSON: ")) << said(text);
  EXPECT_NE(said("{} {}").find("at byte 4"), std::string::npos) << said("{} {}");
  EXPECT_EQ(said(std::string((3 << 20) + 1, ' ')), ": is larger than 3 MiB");
  EXPECT_TRUE(said(std::string(100'000, '[')).starts_with(": is not JSON: "));
}

}  // namespace
}  // namespace davit::intents

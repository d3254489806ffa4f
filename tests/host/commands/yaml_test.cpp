#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "commands/yaml.hpp"

namespace davit::host {
namespace {

std::string as_json(const std::string& yaml) {
  auto read = read_yaml(yaml, "f");
  if (!read.ok()) return read.error().where + ": " + read.error().message;
  std::string out;
  for (const auto& d : *read) out += (out.empty() ? "" : " ") + boost::json::serialize(d.value);
  return out;
}

TEST(Yaml, PlainScalarsFollowTheCoreSchema) {
  EXPECT_EQ(as_json("[1, -2, +3, 0x10, 0o17, 18446744073709551615]"),
            "[1,-2,3,16,15,18446744073709551615]");
  EXPECT_EQ(as_json("[true, False, null, ~, yes, on, no]"),
            R"([true,false,null,null,"yes","on","no"])");
  EXPECT_EQ(as_json("[1.5, 2e3]"), "[1.5E0,2E3]");
  EXPECT_EQ(as_json("[1.2.3, 1-2, -, 12h, e5, 1:30]"), R"(["1.2.3","1-2","-","12h","e5","1:30"])");
}

TEST(Yaml, QuotedScalarsAreStrings) {
  EXPECT_EQ(as_json(R"(["1", 'true', "null", ""])"), R"(["1","true","null",""])");
}

TEST(Yaml, JsonIsYaml) {
  const std::string text = R"({"a":{"b":[1,"x\n\"y\"",{}]},"c":[],"d":null})";
  EXPECT_EQ(as_json(text), text);
}

TEST(Yaml, CharactersThatJsonWritesAsTwoEscapesAreOne) {
  EXPECT_EQ(as_json(R"({"a":"\ud83d\ude00 \u00fc\/","b":"\\ud83d\\ude00"})"),
            "{\"a\":\"\U0001f600 \u00fc/\",\"b\":\"\\\\ud83d\\\\ude00\"}");
  EXPECT_EQ(as_json("{\n\t\"a\":\t[\n\t\t1,\n\t\t{}\n\t]\n}\n"), R"({"a":[1,{}]})") << "tabs";
  EXPECT_EQ(as_json(R"({"a":"\ud83d"})").substr(0, 4), "f:1:") << "half of one";
}

TEST(Yaml, EmptyDocumentsAreLeftOut) {
  EXPECT_EQ(as_json("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n"), R"({"a":1} {"b":2})");
  EXPECT_EQ(as_json(""), "");
}

TEST(Yaml, KnowsTheLineOfEveryKey) {
  auto read = read_yaml(
      "kind: x\nspec:\n  list:\n  - a: 1\n  - b: 2\n  deep: {one: 1,\n    two: 2}\n---\n\nkind: "
      "y\n",
      "f");
  ASSERT_TRUE(read.ok());
  const auto& first = (*read)[0];
  EXPECT_EQ(first.line("kind"), 1);
  EXPECT_EQ(first.line("spec.list[1].b"), 5);
  EXPECT_EQ(first.line("spec.deep.two"), 7);
  EXPECT_EQ(first.line("spec.deep.missing"), 6);
  EXPECT_EQ(first.line("spec.absent.path[3].x"), 2);
  EXPECT_EQ((*read)[1].line("kind"), 10);
}

TEST(Yaml, FaultsNameFileAndLine) {
  EXPECT_EQ(as_json("a: 1\nb: 2\na: 3\n"), "f:3: key \"a\" is given twice");
  EXPECT_EQ(as_json("a: 1\n[1, 2]: 3\n").substr(0, 4), "f:2:");
  EXPECT_EQ(as_json("kind: [deployment\n").substr(0, 2), "f:");
}

TEST(Yaml, DepthIsBounded) {
  EXPECT_EQ(as_json(std::string(100, '[') + std::string(100, ']')),
            "f:1: is nested deeper than 64 levels");
  EXPECT_EQ(as_json(std::string(200'000, '[')), "f:1: is nested deeper than 64 levels");
}

TEST(Yaml, WhatIsWrittenIsReadBackTheSame) {
  const char* text =
      R"({"kind":"deployment","n":5,"s":"5","t":"true","e":"","l":[],"o":{},"m":"two\nlines","x":[{"a":null}],"y":": #"})";
  const auto value = boost::json::parse(text);
  EXPECT_EQ(as_json(to_yaml(value)), boost::json::serialize(value)) << to_yaml(value);
}

}  // namespace
}  // namespace davit::host

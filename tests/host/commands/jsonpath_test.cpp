// The expected texts are kubectl's: tests/e2e/test_kubectl_habits.py compares with the program.
#include "commands/jsonpath.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <boost/json/parse.hpp>

namespace davit::host {
namespace {

// JSON with single quotes.
constexpr std::string_view document_text =
    "{'kind': 'Thing', 'text': 'it\\u0027s \\u0022q\\u0022', 'big': 123456789012345, 'rows': ["
    "{'id': 'a', 'n': 1, 'f': 1.5, 'ok': true, 'z': null, 'tags': ['p', 'q'],"
    " 'm': {'k': 'v', 'b.c': 1}},"
    "{'id': 'b', 'n': 20, 'f': 1e21, 'ok': false, 'tags': []},"
    "{'id': 'c d', 'n': -3, 'f': 0.00001}]}";

boost::json::value document() {
  std::string text(document_text);
  std::replace(text.begin(), text.end(), '\'', '"');
  return boost::json::parse(text);
}

// What is printed, or what is wrong.
std::string printed(const std::string& text) {
  const auto path = JsonPath::parse(text);
  if (!path.ok()) return path.error().message;
  const auto out = path->print(document());
  return out.ok() ? *out : out.error().message;
}

TEST(JsonPath, SelectsWhatKubectlSelects) {
  const std::pair<const char*, const char*> rows[] = {
      {"{.kind}", "Thing"},
      {"{ .kind }", "Thing"},
      {"a{.kind}b", "aThingb"},
      {"{.text}", "it's \"q\""},
      {"{.big}", "123456789012345"},
      {"{.nope}", ""},
      {"{.nope.deeper[0]}", ""},
      {"{.rows[*].id}", "a b c d"},
      {"{.rows[0].id}", "a"},
      {"{.rows[-1].id}", "c d"},
      {"{.rows[0:2].id}", "a b"},
      {"{.rows[-2:].id}", "b c d"},
      {"{.rows[:-1].id}", "a b"},
      {"{.rows[::2].id}", "a c d"},
      {"{.rows[3:].id}", ""},
      {"{.rows[0,2].id}", "a c d"},
      {"{.rows[0]['id','n']}", "a 1"},
      {"{['kind']}", "Thing"},
      {"{.rows[0].m['b\\.c']}", "1"},
      {"{.rows[0].m.b\\.c}", "1"},
      {"{.rows[*].f}", "1.5 1e+21 1e-05"},
      {"{.rows[*].ok}", "true false"},
      {"{.rows[0].z}", "null"},
      {"{.rows[0].m}", R"({"b.c":1,"k":"v"})"},
      {"{.rows[1].tags}", "[]"},
      {"{.rows[*].tags[*]}", "p q"},
      {"{..id}", "a b c d"},
      {"{.rows..k}", "v"},
      {"{.rows[?(@.id==\"a\")].n}", "1"},
      {"{.rows[?(@.id=='c d')].n}", "-3"},
      {"{.rows[?(@.id!=\"a\")].id}", "b c d"},
      {"{.rows[?(@.n>1)].id}", "b"},
      {"{.rows[?(@.n>=1)].id}", "a b"},
      {"{.rows[?(@.n<=-3)].id}", "c d"},
      {"{.rows[?(@.f==1.5)].id}", "a"},
      {"{.rows[?(@.ok==true)].id}", "a"},
      {"{.rows[?(@.m)].id}", "a"},
      {"{.rows[?(@.m.k==\"v\")].id}", "a"},
      {"{range .rows[*]}{.id}{\"\\n\"}{end}", "a\nb\nc d\n"},
      {"{range .rows[*]}[{.id},{range .tags[*]}<{@}>{end}]{end}", "[a,<p><q>][b,][c d,]"},
      {"{range .nope[*]}{.id}{end}z", "z"},
      {"{.kind}{\"\\t\\u00e9\"}", "Thing\t\xc3\xa9"},
      {"{'it\\'s'}", "it's"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(printed(text), expected) << text;
}

// Where kubectl finds nothing or refuses, and a reader sees what is meant.
TEST(JsonPath, TakesWhatKubectlDoesNot) {
  EXPECT_EQ(printed("{.rows[0].m['b.c']}"), "1");
  EXPECT_EQ(printed("{.rows[0][\"id\"]}"), "a");
  EXPECT_EQ(printed("{.rows[ 0 ].id}"), "a");
  EXPECT_EQ(printed("{.rows[?(@.n==1.0)].id}"), "a");
  EXPECT_EQ(printed("{.rows[0].tags}{.}").substr(0, 13), R"(["p","q"]{"bi)");
}

TEST(JsonPath, AFaultNamesItsPlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "there is no template: jsonpath='{.items[*].id}'"},
      {"{.rows[*", "at character 7: a \"]\" is missing"},
      {"{.rows[*]", "at character 10: a \"}\" is missing"},
      {"{rows}", "at character 2: \"rows\" is no expression; a field begins with a dot: {.rows}"},
      {"{.rows[a]}", "at character 8: \"a\" is no index: a number, FIRST:END, * or a 'name'"},
      {"{.rows[1:2:0]}", "at character 8: the step of a slice must be at least 1"},
      {"{.rows[1:2:3:4]}", "at character 8: a slice is [FIRST:END:STEP]"},
      {"{.rows[]}", "at character 8: an index is missing"},
      {"{.rows[?(@.id]}", "at character 7: the filter has no closing \")]\""},
      {"{.rows[?(@.id=\"a)]}", "at character 15: the text has no closing quote"},
      {"{.rows[?(@.id=>1)]}", "at character 14: \"=>\" compares nothing: ==, !=, <, <=, > or >="},
      {"{.rows[?(@.id==)]}", "at character 16: what it is compared with is missing"},
      {"{\"abc}", "at character 2: the text has no closing quote"},
      {"{end}", "at character 1: {end} has no {range}"},
      {"{range .rows[*]}{.id}", "at character 1: {range} has no {end}"},
      {"x{....a}", "at character 5: \"..\" stands twice"},
      {"{{}", "at character 2: \"{\" is not expected here"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(printed(text), expected) << text;
}

TEST(JsonPath, WhatCannotBeSelectedIsSaid) {
  const std::pair<const char*, const char*> rows[] = {
      {"{.rows[5].id}", "the template at character 8: index 5 is out of bounds: there are 3"},
      {"{.rows[-5].id}", "the template at character 8: index -2 is out of bounds: there are 3"},
      {"{.rows[1:0].id}", "the template at character 8: the slice begins behind its end"},
      {"{.rows[0].id[0]}",
       "the template at character 14: a text has no items that an index selects"},
      {"{.rows[?(@.n>=\"a\")].id}",
       "the template at character 7: a number and a text cannot be compared by >="},
      {"{.kind[?(@.a)]}", "the template at character 7: a text has no items to filter"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(printed(text), expected) << text;
}

TEST(JsonPath, NoTemplateBreaksIt) {
  const std::string pieces[] = {"{",      "}",   "[",     "]", "(",  ")",  "?",  "@",
                                ".",      "..",  "*",     ":", ",",  "'",  "\"", "\\",
                                "range ", "end", ".rows", "0", "-1", "==", " "};
  uint32_t seed = 1;
  for (int n = 0; n < 20'000; ++n) {
    std::string text;
    for (int k = 0; k < 8; ++k) {
      seed = seed * 1664525u + 1013904223u;
      text += pieces[(seed >> 16) % std::size(pieces)];
    }
    printed(text);  // ends, without an exception
  }
}

}  // namespace
}  // namespace davit::host

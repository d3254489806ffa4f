#include "commands/differences.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace davit::host {
namespace {

namespace json = boost::json;

std::string fields(const char* before, const char* after) {
  std::string out;
  const auto text = [](const std::optional<json::value>& v) {
    return v ? json::serialize(*v) : std::string("-");
  };
  for (const auto& c : changed_fields(json::parse(before), json::parse(after)))
    out += c.path + ": " + text(c.before) + " -> " + text(c.after) + "\n";
  return out;
}

TEST(Differences, EachChangedFieldIsNamedAsErrorsNameIt) {
  EXPECT_EQ(fields(R"({"a":1,"s":{"x":1,"y":[1,2,{"z":3}],"gone":{"k":1}}})",
                   R"({"a":1,"s":{"x":2,"y":[1,5,{"z":4},6],"new":true}})"),
            "s.x: 1 -> 2\n"
            "s.y[1]: 2 -> 5\n"
            "s.y[2].z: 3 -> 4\n"
            "s.y[3]: - -> 6\n"
            "s.gone: {\"k\":1} -> -\n"
            "s.new: - -> true\n");
  EXPECT_EQ(fields(R"({"a":{"x":1}})", R"({"a":{"x":1}})"), "");
  EXPECT_EQ(fields(R"({"a":{"x":1}})", R"({"a":[1]})"), "a: {\"x\":1} -> [1]\n");
}

TEST(Differences, TheOrderOfKeysIsNone) {
  const auto ordered = [](const char* text) {
    return json::serialize(with_ordered_keys(json::parse(text)));
  };
  EXPECT_EQ(ordered(R"({"kind":"k","id":"i","spec":{"b":1,"a":[{"d":1,"c":2}]}})"),
            R"({"kind":"k","id":"i","spec":{"a":[{"c":2,"d":1}],"b":1}})");
}

TEST(UnifiedDiff, IsTheOneOfDiff) {
  EXPECT_EQ(
      unified_diff("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\nE\nf\ng\nh\ni\n", "old", "new"),
      "--- old\n+++ new\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n");
  EXPECT_EQ(unified_diff("", "a\nb\n", "o", "n"), "--- o\n+++ n\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(unified_diff("a\n", "", "o", "n"), "--- o\n+++ n\n@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n", "o", "n"), "");
}

TEST(UnifiedDiff, ChangesFarApartAreHunksOfTheirOwn) {
  std::string before, near, far;
  for (int n = 1; n <= 30; ++n) {
    before += std::to_string(n) + "\n";
    near += (n == 5 || n == 12 ? "x" : std::to_string(n)) + "\n";
    far += (n == 5 || n == 13 ? "x" : std::to_string(n)) + "\n";
  }
  const auto hunks = [&](const std::string& after) {
    const std::string diff = unified_diff(before, after, "o", "n");
    size_t out = 0;
    for (size_t at = 0; (at = diff.find("\n@@ ", at)) != std::string::npos; ++at) ++out;
    return out;
  };
  EXPECT_EQ(hunks(near), 1u);
  EXPECT_EQ(hunks(far), 2u);
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// What `patch` makes of the lines; it checks what it removes and what stands around it.
std::vector<std::string> patched(const std::vector<std::string>& before, const std::string& diff) {
  std::vector<std::string> out;
  size_t at = 0;
  for (const std::string& line : lines_of_text(diff)) {
    if (line.starts_with("---") || line.starts_with("+++")) continue;
    size_t first = 0, count = 1;
    if (std::sscanf(line.c_str(), "@@ -%zu,%zu", &first, &count) >= 1) {
      const size_t begin = count == 0 ? first : first - 1;
      while (at < begin) out.push_back(before.at(at++));
      continue;
    }
    if (line.front() != '+') {
      EXPECT_EQ(line.substr(1), before.at(at));
      ++at;
    }
    if (line.front() != '-') out.push_back(line.substr(1));
  }
  while (at < before.size()) out.push_back(before[at++]);
  return out;
}

size_t shortest_script(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<size_t>> same(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < b.size(); ++k) {
      same[i + 1][k + 1] = a[i] == b[k] ? same[i][k] + 1 : std::max(same[i][k + 1], same[i + 1][k]);
    }
  }
  return a.size() + b.size() - 2 * same[a.size()][b.size()];
}

TEST(UnifiedDiff, PatchesOneTextIntoTheOtherByTheFewestLines) {
  std::mt19937 random(7);
  for (int n = 0; n < 3000; ++n) {
    std::string texts[2];
    for (std::string& text : texts) {
      for (unsigned left = random() % 20; left > 0; --left)
        text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    }
    const auto before = lines_of_text(texts[0]), after = lines_of_text(texts[1]);
    const std::string diff = unified_diff(texts[0], texts[1], "o", "n");
    ASSERT_EQ(patched(before, diff), after) << texts[0] << "--\n" << texts[1] << "--\n" << diff;
    size_t edits = 0;
    for (const std::string& line : lines_of_text(diff.substr(std::min(diff.size(), size_t{12}))))
      edits += line.front() == '-' || line.front() == '+';
    ASSERT_EQ(edits, shortest_script(before, after)) << diff;
  }
}

TEST(UnifiedDiff, TextsWithoutACommonLineAreReplaced) {
  std::string before, after;
  for (int n = 0; n < 3000; ++n) {
    before += "a" + std::to_string(n) + "\n";
    after += "b" + std::to_string(n) + "\n";
  }
  const std::string diff = unified_diff(before, after, "o", "n");
  EXPECT_EQ(patched(lines_of_text(before), diff), lines_of_text(after));
}

}  // namespace
}  // namespace davit::host

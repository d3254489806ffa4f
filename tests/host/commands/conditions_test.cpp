#include "commands/conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <davit/issues.hpp>

namespace davit::host {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string in_one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

// What stands in quotes between each `begin` and the next `end`.
std::set<std::string> words(const std::string& text, const std::string& begin, char end) {
  std::set<std::string> out;
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    std::istringstream quoted(text.substr(at, text.find(end, at) - at));
    std::string before, word;
    while (std::getline(quoted, before, '"') && std::getline(quoted, word, '"')) out.insert(word);
  }
  return out;
}

// As the sources define them: a condition that is new there is found here.
std::set<std::string> words_of_others() {
  const fs::path sources = SOURCES;
  std::set<std::string> out(issues::all.begin(), issues::all.end());
  out.merge(words(content_of(sources / "plugins/desired/conditions.hpp"),
                  "static constexpr const char* ", ';'));
  out.merge(words(content_of(sources / "plugins/recorder/envelope.cpp"), "healths = {", '}'));
  return out;
}

bool is_explained(const std::string& word) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return c.name == word; });
}

TEST(Conditions, EachWordThatOthersSayIsExplained) {
  const auto all = words_of_others();
  for (const char* word : {"parked", "contended", "paused", "contested"})
    EXPECT_TRUE(all.contains(word)) << word << " is not where this test looks for it";
  for (const std::string& word : all)
    EXPECT_TRUE(is_explained(word)) << "davit explain does not know " << word;
}

// `davit explain` and the README are one text.
TEST(Conditions, AreSaidInTheReadmeWithTheSameWords) {
  const std::string readme = in_one_line(content_of(COMMANDS_README));
  for (const Condition& c : conditions) {
    const std::string entry = "* **" + std::string(c.name) + "**: " + std::string(c.means) +
                              " *What to do:* " + std::string(c.to_do);
    EXPECT_NE(readme.find(entry), std::string::npos) << "the README does not say: " << entry;
  }
}

}  // namespace
}  // namespace davit::host

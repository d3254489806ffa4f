#include "commands/conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
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

// What `pattern` finds in its first group.
std::set<std::string> words(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    out.insert((*at)[1]);
  return out;
}

// As the sources define them: a condition that is new there is found here.
std::set<std::string> words_of_others() {
  const fs::path sources = SOURCES;
  std::set<std::string> out(issues::all.begin(), issues::all.end());
  out.merge(words(content_of(sources / "plugins/desired/conditions.hpp"),
                  "static constexpr const char\\* [a-z_]+ = \"([a-z ]+)\""));
  const std::string envelope = content_of(sources / "plugins/recorder/envelope.cpp");
  for (const std::string& list : words(envelope, "healths = \\{([^}]*)\\}"))
    out.merge(words(list, "\"([a-z ]+)\""));
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

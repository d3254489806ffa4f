#include "commands/output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include <davit/issues.hpp>

#include "commands/conditions.hpp"

namespace davit::host {
namespace {

TEST(Output, NothingThatOthersSayMovesTheCursor) {
  EXPECT_EQ(harmless("parked: \033[2Jall is well\r\x7f"), "parked:  [2Jall is well  ");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            " 31m")
      << "U+009B is an escape, too";
  EXPECT_EQ(harmless("caf\xc3\xa9 \xc2\xa0"), "caf\xc3\xa9 \xc2\xa0");
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

// `davit explain` and the README are one text.
TEST(Conditions, AreSaidInTheReadmeWithTheSameWords) {
  std::ifstream in(README);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string readme = in_one_line(text.str());
  ASSERT_FALSE(conditions().empty());
  for (const Condition& c : conditions()) {
    const std::string entry = "* **" + std::string(c.name) + "**: " + std::string(c.means) +
                              " *What to do:* " + std::string(c.to_do);
    EXPECT_NE(readme.find(entry), std::string::npos) << "the README does not say: " << entry;
  }
}

TEST(Conditions, ExplainEveryIssueOfAnAgent) {
  for (const std::string_view issue : issues::all) {
    const auto& all = conditions();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Condition& c) {
      return std::string_view(c.name) == issue;
    })) << issue;
  }
}

}  // namespace
}  // namespace davit::host

#include "commands/exit_codes.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace davit::host {
namespace {

TEST(ExitCodes, TellWhatToDoApart) {
  EXPECT_EQ(exit_code_of(Code::invalid_argument), exit_code_refused);
  EXPECT_EQ(exit_code_of(Code::permission_denied), exit_code_refused);
  EXPECT_EQ(exit_code_of(Code::aborted), exit_code_refused) << "of another version";
  EXPECT_EQ(exit_code_of(Code::not_found), exit_code_not_found);
  EXPECT_EQ(exit_code_of(Code::unavailable), exit_code_no_answer);
  EXPECT_EQ(exit_code_of(Code::deadline_exceeded), exit_code_no_answer);
  EXPECT_EQ(exit_code_of(Code::data_loss), exit_code_failed);
}

TEST(ExitCodes, StandInTheReadmeAsHelpSaysThem) {
  std::ifstream in(COMMANDS_README);
  std::ostringstream readme;
  readme << in.rdbuf();
  std::set<int> codes;
  for (const ExitMeaning& e : exit_meanings()) {
    EXPECT_TRUE(codes.insert(e.code).second) << e.code << " is given twice";
    const std::string row = "| " + std::to_string(e.code) + " | " + e.means + " |";
    EXPECT_NE(readme.str().find(row), std::string::npos) << "the README does not say: " << row;
  }
}

}  // namespace
}  // namespace davit::host

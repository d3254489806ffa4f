// The exit codes of davit-seal are those of davit.
#include "commands/exit_codes.hpp"

#include <gtest/gtest.h>

#include "seal/exit_codes.hpp"

namespace davit::secrets_file {
namespace {

TEST(SealExitCodes, AreThoseOfDavit) {
  EXPECT_EQ(int{seal_exit_done}, int{host::exit_code_done});
  EXPECT_EQ(int{seal_exit_failed}, int{host::exit_code_failed});
  EXPECT_EQ(int{seal_exit_usage}, int{host::exit_code_usage});
  EXPECT_EQ(int{seal_exit_refused}, int{host::exit_code_refused});
  EXPECT_EQ(int{seal_exit_not_found}, int{host::exit_code_not_found});
  // What "try again" is for a server is a failure of a file.
  for (int code = 1; code <= 16; ++code) {
    const int davit = host::exit_code_of(static_cast<Code>(code));
    const int seal = seal_exit_of(static_cast<Code>(code));
    if (davit != host::exit_code_no_answer && seal != seal_exit_failed) {
      EXPECT_EQ(seal, davit) << code;
    }
  }
}

}  // namespace
}  // namespace davit::secrets_file

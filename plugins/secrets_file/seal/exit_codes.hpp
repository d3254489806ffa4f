// The exit codes of davit-seal, for scripts: those of davit (host/commands/exit_codes.hpp) that
// apply. A test compares.
#pragma once

#include <utility>
#include <vector>

#include "davit/types.hpp"

namespace davit::secrets_file {

enum SealExit : int {
  seal_exit_done = 0,
  seal_exit_failed = 1,
  seal_exit_usage = 2,
  seal_exit_refused = 4,
  seal_exit_not_found = 5,
};

const std::vector<std::pair<SealExit, const char*>>& seal_exit_meanings();

SealExit seal_exit_of(Code code);

}  // namespace davit::secrets_file

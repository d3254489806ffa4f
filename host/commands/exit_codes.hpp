// The exit codes of the sub-commands, for scripts. `davit help` prints the table. README.md repeats
// it, and a test compares.
#pragma once

#include <vector>

#include <davit/types.hpp>

namespace davit::host {

// The first four and the last are also those of assembly/application.hpp.
enum ExitCode : int {
  exit_code_done = 0,
  exit_code_failed = 1,
  exit_code_usage = 2,
  exit_code_late = 3,
  exit_code_refused = 4,
  exit_code_not_found = 5,
  exit_code_no_answer = 6,
  exit_code_rollout_failed = 7,
  // Of diff, whose 1 says that something differs, as with other diffs.
  exit_code_differs = 1,
  exit_code_diff_failed = 8,
  exit_code_unconfigured = 78,
};

struct ExitMeaning {
  ExitCode code;
  const char* means;
};
const std::vector<ExitMeaning>& exit_meanings();

// The exit code for an error that a server answered, or that occurred on the way to it.
ExitCode exit_code_of(Code code);

}  // namespace davit::host

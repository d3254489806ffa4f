// Runs another program to its end for a command. Blocks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct ProgramRun {
  int status = 0;  // its exit status; 128 and the signal that has ended it
  std::string output, errors;
};

// The program is looked for in $PATH unless it has a "/". It stays in this process' group, so that
// who ends this command ends it, too. `file_four`: what it can read as /proc/self/fd/4; empty:
// nothing. FAILED_PRECONDITION: it cannot be started. DEADLINE_EXCEEDED: it was killed at the
// limit.
Result<ProgramRun> run_program(const std::vector<std::string>& words, const std::string& input,
                               const std::string& file_four, std::chrono::milliseconds limit);

}  // namespace davit::host

// Prints the outcome of each document or key: "deployment/d_1 (eu-1) created (version 12)".
#pragma once

#include <string>

#include "exit_codes.hpp"

namespace davit::v1 {
class Outcome;
}

namespace davit::host {

// One line, without the newline. The caller prints refusals itself.
std::string outcome_line(const v1::Outcome& outcome, bool dry_run = false);

// True: nothing was done about the document or key. A server of 1.0 gives no type; each of its
// refusals has a code.
bool is_refused(const v1::Outcome& outcome);

// The exit code of a command whose first refusal is this.
ExitCode exit_code_of(const v1::Outcome& refused);

}  // namespace davit::host

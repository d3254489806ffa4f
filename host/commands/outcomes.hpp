// Prints what became of documents and keys: "deployment/d_1 (eu-1) created (version 12)".
#pragma once

#include <string>

#include "exit_codes.hpp"

namespace davit::v1 {
class Outcome;
}

namespace davit::host {

// One line, without the newline; a refused one is the caller's to tell.
std::string outcome_line(const v1::Outcome& outcome, bool dry_run = false);

// What a command ends with of which this is the first that was refused.
ExitCode exit_code_of(const v1::Outcome& refused);

}  // namespace davit::host

// The command line of davit-seal: CLI11 splits the words; the help, the errors and the exit codes
// are those of davit.
#pragma once

#include <string>
#include <vector>

namespace davit::secrets_file {

// Does what the words say. Returns a SealExit. Errors go to standard error.
int run_seal(std::vector<std::string> words);

}  // namespace davit::secrets_file

// The words of a command line, in the form that CLI11 takes, and in which people know them from
// kubectl: "-o=yaml", and options before the command.
#pragma once

#include <string>
#include <vector>

#include "command_line.hpp"

namespace davit::host {

// The option with this name ("-r", "--region") of any command below; nullptr if none has it. A name
// means the same in all commands.
const CLI::Option* option_below(const Command& davit, const std::string& name);
// The option of any command below whose value is the next word: of "-r" and "--region", but not of
// "-reu" or "--region=eu".
const CLI::Option* option_that_waits(const Command& davit, const std::string& word);

// "--server U -o=json get d" becomes "get --server U --output=json d".
std::vector<std::string> words_for_cli11(const Command& davit,
                                         const std::vector<std::string>& words);

}  // namespace davit::host

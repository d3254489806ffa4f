// The commands of davit. Each is one file, commands/NAME.cpp with the function NAME_command, and
// one line in davit.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace davit::host {

using CommandPtr = std::shared_ptr<Command>;

CommandPtr run_command();
CommandPtr check_command();
CommandPtr config_command();
CommandPtr plugin_command();
CommandPtr apply_command();
CommandPtr diff_command();
CommandPtr get_command();
CommandPtr describe_command();
CommandPtr delete_command();
CommandPtr status_command();
CommandPtr wait_command();
CommandPtr agent_command();
CommandPtr token_command();
CommandPtr storage_command();
CommandPtr federation_command();
CommandPtr clusters_command();
CommandPtr explain_command();

// The whole tree.
CommandPtr davit_command();

// Runs the command line of `davit`: the words after the program's name. Returns an ExitCode.
int run_davit(std::vector<std::string> words);

}  // namespace davit::host

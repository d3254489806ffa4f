// The sub-commands of davit. Each is one file, commands/NAME.cpp with `int run_NAME(Arguments)`,
// and one entry in table.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace davit::host {

struct Command {
  const char* name;
  const char* usage;      // the words after the name
  const char* summary;    // one line
  const char* options;    // one or more lines for each option
  bool asks_server;       // adds the options that name the server
  int (*run)(Arguments);  // returns an ExitCode
};

const std::vector<Command>& commands();
const Command* find_command(std::string_view name);

// Prints "davit NAME: <problem>" and the usage to standard error. Returns exit_code_usage.
int usage_error(std::string_view command, std::string_view problem);

// Runs the whole command line of `davit`.
int run_davit(std::vector<std::string> words);

int run_run(Arguments);
int run_check(Arguments);
int run_plugin(Arguments);
int run_apply(Arguments);
int run_get(Arguments);
int run_delete(Arguments);
int run_status(Arguments);
int run_storage(Arguments);
int run_agent(Arguments);
int run_explain(Arguments);

}  // namespace davit::host

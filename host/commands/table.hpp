// The sub-commands of davit. One file each: commands/NAME.cpp with `int run_NAME(Arguments)`, and
// one line in table.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace davit::host {

struct Command {
  const char* name;
  const char* usage;      // what follows the name
  const char* summary;    // one line
  const char* options;    // a line or more each
  bool asks_server;       // and has the options that say which
  int (*run)(Arguments);  // returns an ExitCode
};

const std::vector<Command>& commands();
const Command* find_command(std::string_view name);

// "davit NAME: <problem>" and how it is meant, on standard error; returns
// exit_code_usage.
int usage_error(std::string_view command, std::string_view problem);

// `davit ...` as a whole.
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

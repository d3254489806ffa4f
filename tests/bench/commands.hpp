// A program of several commands, each with a fixed number of arguments.
#pragma once

#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

namespace davit::bench {

using Arguments = std::vector<std::string>;

struct Command {
  size_t arguments;
  int (*run)(const Arguments&);
};

// `PROGRAM COMMAND ARGUMENT...`: the exit code; 2 when it is called wrongly, 1 with what
// was thrown.
inline int run(const std::map<std::string, Command>& commands, int argc, char** argv) {
  const auto found = argc > 1 ? commands.find(argv[1]) : commands.end();
  if (found == commands.end() || static_cast<size_t>(argc - 2) != found->second.arguments) {
    std::fprintf(stderr, "usage: see the head of the source of %s\n", argv[0]);
    return 2;
  }
  try {
    return found->second.run(Arguments(argv + 2, argv + argc));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}

}  // namespace davit::bench

#include "table.hpp"

#include <cstdio>

#include "config/suggest.hpp"

namespace davit::host {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "FILE...", "run the plugins that these files name, until SIGTERM", &run_run},
      {"check", "FILE...", "load and wire everything, print the graph, start nothing", &run_check},
      {"plugin", "list [--dir DIR]", "show the plugins that are installed", &run_plugin},
#ifdef DAVIT_COMMAND_APPLY
      {"apply", "-f FILE [--wait]", "make the desired state what the documents say", &run_apply},
#endif
#ifdef DAVIT_COMMAND_GET
      {"get", "KIND [ID] [-o table|json|yaml]", "show desired state", &run_get},
#endif
#ifdef DAVIT_COMMAND_DELETE
      {"delete", "KIND ID | -f FILE", "delete from the desired state", &run_delete},
#endif
#ifdef DAVIT_COMMAND_STATUS
      {"status", "[KIND [ID]] [-o table|json|yaml]", "show desired beside observed state",
       &run_status},
#endif
  };
  return table;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int usage_error(std::string_view name, std::string_view problem) {
  const Command* command = find_command(name);
  std::fprintf(stderr, "davit %.*s: %.*s (usage: davit %.*s %s)\n", static_cast<int>(name.size()),
               name.data(), static_cast<int>(problem.size()), problem.data(),
               static_cast<int>(name.size()), name.data(),
               command == nullptr ? "" : command->usage);
  return 2;
}

namespace {

void print_help(std::FILE* to) {
  std::fputs(
      "davit keeps Kubernetes clusters in many regions equal to what a control plane wants\n\n",
      to);
  for (const Command& command : commands()) {
    const std::string line = std::string(command.name) + " " + command.usage;
    std::fprintf(to, "  davit %-40s %s\n", line.c_str(), command.summary);
  }
  std::fprintf(to, "  davit %-40s %s\n  davit %-40s %s\n", "--version", "print the version", "help",
               "print this");
}

}  // namespace

int run_davit(std::vector<std::string> words) {
  if (words.empty()) {
    print_help(stderr);
    return 2;
  }
  const std::string name = words.front();
  words.erase(words.begin());
  if (name == "help" || name == "--help" || name == "-h") {
    print_help(stdout);
    return 0;
  }
  if (name == "--version" || name == "version") {
    std::printf("davit %s\n", DAVIT_VERSION);
    return 0;
  }
  if (const Command* command = find_command(name)) {
    for (const std::string& word : words) {
      if (word == "--") break;
      if (word != "--help" && word != "-h") continue;
      std::printf("davit %s %s\n  %s\n", command->name, command->usage, command->summary);
      return 0;
    }
    return command->run(Arguments(std::move(words)));
  }
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  const std::string near = nearest(name, names);
  const std::string advice = near.empty() ? "see davit help" : "did you mean \"" + near + "\"?";
  std::fprintf(stderr, "davit: no command \"%s\"; %s\n", name.c_str(), advice.c_str());
  return 2;
}

}  // namespace davit::host

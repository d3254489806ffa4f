#include <algorithm>
#include <cstdio>

#include "davit.hpp"
#include "exit_codes.hpp"
#include "loader/loader.hpp"
#include "text_table.hpp"

namespace davit::host {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out.empty() ? "-" : out;
}

bool any_broken(const std::vector<ListedModule>& modules) {
  return std::any_of(modules.begin(), modules.end(),
                     [](const ListedModule& m) { return !m.problem.empty(); });
}

void print(const std::vector<ListedModule>& modules) {
  // The path of a file may be left out when there is no room; a fault may not.
  TextTable table(
      {"MODULE", "VERSION", "ABI", "ROLES", "NEEDS", {"FILE", any_broken(modules) ? 0 : 1}},
      TextTable::Last::wrapped);
  for (const ListedModule& m : modules) {
    if (!m.problem.empty()) {
      table.row({m.name, "-", "-", "-", "-", m.path + ": " + m.problem});
      continue;
    }
    const std::string abi =
        std::to_string(m.note.abi_major) + "." + std::to_string(m.note.abi_minor);
    table.row({m.name, m.note.version, abi, joined(m.note.roles), joined(m.note.needs), m.path});
  }
  std::fputs(table.print(false, terminal_columns()).c_str(), stdout);
}

// Loads no plugin: the notes contain everything.
int list(const std::string& directory) {
  const Loader loader({directory.empty() ? Loader::default_directory() : directory});
  const auto modules = loader.list();
  if (modules.empty()) {
    std::fprintf(stderr, "no plugin in %s\n", loader.directories().front().c_str());
    return exit_code_failed;
  }
  print(modules);
  return any_broken(modules) ? exit_code_failed : exit_code_done;
}

}  // namespace

CommandPtr plugin_command() {
  auto directory = std::make_shared<std::string>();
  auto command = std::make_shared<Command>("plugin", "list [--dir DIR]",
                                           "show the plugins that are installed");
  auto verb = std::make_shared<Command>("list", "[--dir DIR]", "show each file's module and roles",
                                        [directory] { return list(*directory); });
  verb->option("--dir", "DIR", *directory, "those of another directory");
  verb->examples({"davit plugin list --dir /usr/lib/davit/plugins"});
  command->verb(std::move(verb));
  return command;
}

}  // namespace davit::host

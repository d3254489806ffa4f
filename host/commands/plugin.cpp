#include <algorithm>
#include <cstdio>

#include "assembly/settings_survey.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
#include "loader/loader.hpp"
#include "output.hpp"
#include "plugin_new.hpp"
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

void add_rows(TextTable& table, const std::string& prefix, const Setting& settings) {
  for (const Setting& part : settings.parts) {
    std::string about = part.about;
    if (part.required) about += about.empty() ? "must be set" : "; must be set";
    const std::string name = prefix + part.name;
    table.row({name, type_text(part), part.usual, about});
    add_rows(table, name + (part.type == Setting::Type::tables ? "[]." : "."), part);
  }
}

// Makes an instance of the plugin to ask it for its settings, as `davit check` does.
int show_settings(const std::string& module, const std::string& directory) {
  if (module.empty()) throw UsageError("names no module; see davit plugin list");
  SettingsSurvey survey(directory.empty() ? std::vector<std::string>{}
                                          : std::vector<std::string>{directory});
  const ModuleSettings shown = survey.module(module);
  if (!shown.problem.empty()) return failed("plugin", {Code::not_found, shown.problem});
  std::printf("%s %s  %s  %s\n", shown.module.c_str(), shown.version.c_str(),
              joined(shown.roles).c_str(), shown.path.c_str());
  if (shown.settings.parts.empty()) return std::puts("it has no settings"), exit_code_done;
  TextTable table({"SETTING", {"TAKES", 1}, "DEFAULT", "WHAT IT IS FOR"}, TextTable::Last::wrapped);
  add_rows(table, "", shown.settings);
  std::fputs(table.print(false, terminal_columns()).c_str(), stdout);
  return exit_code_done;
}

CommandPtr show_verb() {
  auto module = std::make_shared<std::string>();
  auto directory = std::make_shared<std::string>();
  auto verb = std::make_shared<Command>("show", "MODULE [--dir DIR]",
                                        "show the settings that a plugin reads",
                                        [=] { return show_settings(*module, *directory); });
  verb->word("MODULE", *module, "a name of `davit plugin list`");
  verb->option("--dir", "DIR", *directory, "look into this directory first");
  verb->examples({"davit plugin show streamer"});
  return verb;
}

}  // namespace

CommandPtr plugin_command() {
  auto directory = std::make_shared<std::string>();
  auto command =
      std::make_shared<Command>("plugin", "list | show MODULE | new NAME",
                                "show the plugins that are installed, and begin one of your own");
  auto verb = std::make_shared<Command>("list", "[--dir DIR]", "show each file's module and roles",
                                        [directory] { return list(*directory); });
  verb->option("--dir", "DIR", *directory, "those of another directory");
  verb->examples({"davit plugin list --dir /usr/lib/davit/plugins"});
  command->verb(std::move(verb));
  command->verb(show_verb());
  command->verb(plugin_new_verb());
  return command;
}

}  // namespace davit::host

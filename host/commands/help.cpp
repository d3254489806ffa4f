// What `davit --help` and `davit COMMAND --help` print, from the tree of commands.
#include <algorithm>

#include "command_line.hpp"
#include "exit_codes.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

constexpr size_t help_columns = 80;
constexpr size_t name_columns_max = 20;  // of the first column

// What `davit --help` says of a command; the names of options and words, and what they are for.
using Rows = std::vector<std::pair<std::string, std::string>>;

std::string two_columns(const Rows& rows) {
  size_t names = 0;
  for (const auto& [name, about] : rows)
    names = std::max(names, std::min(name.size(), name_columns_max));
  std::string out;
  for (const auto& [name, about] : rows) {
    std::string first = "  " + name;
    for (const std::string& line : wrapped(about, help_columns - names - 4)) {
      if (first.size() > names + 2) {
        out += first + "\n";
        first.clear();
      }
      first.resize(names + 4, ' ');
      out += first + line + "\n";
      first.clear();
    }
  }
  return out;
}

// "-r, --region R"
std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string out;
  for (const std::string& name : option.get_snames()) out += (out.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) out += (out.empty() ? "--" : ", --") + name;
  const bool flag = option.get_expected_max() == 0;
  return flag ? out : out + " " + option.get_type_name();
}

void add_options(Rows& rows, const std::vector<const CLI::Option*>& options,
                 const std::string& indent) {
  for (const CLI::Option* option : options) {
    if (option->nonpositional() && !option->check_lname("help") && !option->get_group().empty())
      rows.emplace_back(indent + name_of(*option), option->get_description());
  }
}

std::string help_of_davit(const Command& davit) {
  std::string out = davit.get_description() + "\n\n";
  Rows rows;
  for (const Command* command : davit.commands())
    rows.emplace_back("davit " + command->get_name(), command->get_description());
  rows.emplace_back("davit --version", "print the version, the build and the ABI");
  out += two_columns(rows) + "\nexit codes:\n";
  for (const ExitMeaning& e : exit_meanings())
    out += "  " + std::to_string(e.code) + "  " + e.means + "\n";
  return out;
}

}  // namespace

std::string help_of(const Command& command) {
  if (command.parent() == nullptr) return help_of_davit(command);
  std::string out = "davit " + command.path() + " " + command.usage() + "\n";
  for (const std::string& line : wrapped(command.get_description(), help_columns))
    out += line + "\n";
  Rows rows;
  for (const Command* verb : command.commands()) {
    rows.emplace_back(verb->get_name() + " " + verb->usage(), verb->get_description());
    add_options(rows, verb->get_options(), "  ");
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) rows.emplace_back(name_of(*option), option->get_description());
  }
  add_options(rows, command.all_options(), "");
  out += "\n" + two_columns(rows);
  const std::string examples = command.get_footer();
  return examples.empty() ? out : out + "\nexamples:\n" + examples;
}

}  // namespace davit::host

#include "help.hpp"

#include <algorithm>
#include <cstdio>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "exit_codes.hpp"

namespace davit::secrets_file {
namespace {

constexpr size_t seal_help_columns = 80, seal_name_columns_max = 20;

// Lines of at most `room` letters, divided at spaces.
std::vector<std::string> divided(std::string text, size_t room) {
  std::vector<std::string> out;
  while (text.size() > room) {
    const size_t space = text.rfind(' ', room);
    if (space == std::string::npos) break;
    out.push_back(text.substr(0, space));
    text.erase(0, space + 1);
  }
  out.push_back(std::move(text));
  return out;
}

// "-k, --key PUBLIC"
std::string shown_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string out;
  for (const std::string& name : option.get_snames()) out += (out.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) out += (out.empty() ? "--" : ", --") + name;
  return option.get_expected_max() == 0 ? out : out + " " + option.get_type_name();
}

}  // namespace

std::string two_columns(const std::vector<HelpRow>& rows) {
  size_t names = 0;
  for (const HelpRow& row : rows)
    names = std::max(names, std::min(row.name.size(), seal_name_columns_max));
  std::string out;
  for (const HelpRow& row : rows) {
    std::string first = "  " + row.name;
    for (const std::string& line : divided(row.about, seal_help_columns - names - 4)) {
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

std::string command_help(const CLI::App& command, const std::string& usage) {
  std::string out = "davit-seal " + command.get_name() + " " + usage + "\n";
  for (const std::string& line : divided(command.get_description(), seal_help_columns))
    out += line + "\n";
  std::vector<HelpRow> rows;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->check_lname("help"))
      rows.push_back({shown_name(*option), option->get_description()});
  }
  out += "\n" + two_columns(rows) + "\nexamples:\n";
  const std::string examples = command.get_footer();
  for (size_t at = 0; at < examples.size();) {
    const size_t end = std::min(examples.find('\n', at), examples.size());
    out += "  " + examples.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return seal_exit_done;
  std::fputs("davit-seal: the output cannot be written\n", stderr);
  return seal_exit_failed;
}

}  // namespace davit::secrets_file

#include "manual.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "exit_codes.hpp"
#include "output.hpp"
#include "text_pieces.hpp"

namespace davit::host {
namespace {

// Sentences of ours begin with a small letter and have no full stop.
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + (text.back() == '.' ? "" : ".");
}

std::string options_text(const std::vector<const CLI::Option*>& options, bool positional) {
  std::string out;
  for (const CLI::Option* option : options) {
    if (option->get_positional() != positional || option->check_lname("help")) continue;
    out += manual_item(manual_option(*option), roff(sentence(option->get_description())));
  }
  return out;
}

std::string synopsis(const Command& command) {
  return ".B davit " + roff(command.path()) + "\n" +
         (command.usage().empty() ? "" : roff(command.usage()) + "\n");
}

std::string examples_text(const Command& command) {
  const std::string lines = command.get_footer();
  if (lines.empty()) return {};
  std::string out = ".PP\n.nf\n";
  for (const std::string_view line : split_lines(lines)) out += roff(line) + "\n";
  return out + ".fi\n";
}

std::string verbs_text(const Command& command) {
  if (command.commands().empty()) return {};
  std::string out = ".SH COMMANDS\n";
  for (const Command* verb : command.commands()) {
    out += ".SS " + roff(verb->get_name()) + "\n" + synopsis(*verb) + ".PP\n" +
           roff(sentence(verb->get_description())) + "\n" +
           options_text(verb->get_options(), true) + options_text(verb->get_options(), false) +
           examples_text(*verb);
  }
  return out;
}

std::string exit_status() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitMeaning& e : exit_meanings())
    out += manual_item("\\fB" + std::to_string(e.code) + "\\fR", roff(sentence(e.means)));
  return out;
}

std::string see_also(const std::vector<std::pair<std::string, int>>& pages) {
  std::string out = ".SH SEE ALSO\n";
  for (const auto& [name, section] : pages) {
    const bool last = name == pages.back().first;
    out += ".BR " + roff(name) + " (" + std::to_string(section) + ")" + (last ? "" : ",") + "\n";
  }
  return out;
}

bool write_page(const std::string& folder, const std::string& name, int section,
                const std::string& text) {
  const std::string number = std::to_string(section);
  const auto path = std::filesystem::path(folder) / ("man" + number) / (name + "." + number);
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return true;
  tell(stderr, "davit __manual: " + path.string() + " cannot be written");
  return false;
}

// The plugins that the shipped files name: what else is in the folder is somebody else's.
KnownSettings shipped_settings() {
  SettingsSurvey survey;
  KnownSettings out = known_settings(survey);
  const std::vector<std::string> scopes = Catalogue::shipped().scopes();
  std::erase_if(out.modules, [&](const ModuleSettings& module) {
    return std::find(scopes.begin(), scopes.end(), "plugin:" + module.module) == scopes.end();
  });
  return out;
}

int write_manual(const Command& davit, const std::string& folder) {
  bool all = write_page(folder, "davit", 1, manual_of_davit(davit)) &&
             write_page(folder, "davit.toml", 5, manual_of_settings(shipped_settings()));
  for (const Command* command : davit.commands())
    all = all && write_page(folder, "davit-" + command->get_name(), 1, manual_of_command(*command));
  return all ? exit_code_done : exit_code_failed;
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string manual_head(const std::string& name, int section, const std::string& about) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return ".TH " + roff(title) + " " + std::to_string(section) +
         " \"\" \"Davit " DAVIT_VERSION "\" \"Davit\"\n.SH NAME\n" + roff(name) + " \\- " +
         roff(about) + "\n";
}

std::string manual_item(const std::string& heading, const std::string& text) {
  return ".TP\n" + heading + "\n" + (text.empty() ? "\\&" : text) + "\n";
}

std::string manual_option(const CLI::Option& option) {
  if (option.get_positional()) return "\\fI" + roff(option.get_name(true)) + "\\fR";
  std::string out;
  for (const std::string& name : option.get_snames())
    out += (out.empty() ? "\\fB\\-" : ", \\fB\\-") + roff(name) + "\\fR";
  for (const std::string& name : option.get_lnames())
    out += (out.empty() ? "\\fB\\-\\-" : ", \\fB\\-\\-") + roff(name) + "\\fR";
  const bool flag = option.get_expected_max() == 0;
  return flag ? out : out + " \\fI" + roff(option.get_type_name()) + "\\fR";
}

std::string manual_of_davit(const Command& davit) {
  std::string out = manual_head("davit", 1, davit.get_description());
  out += ".SH SYNOPSIS\n.B davit\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
         roff(sentence(davit.get_description())) +
         "\nOne program is server, agent, federation and command line; its configuration says what "
         "it\nruns, see\n.BR davit.toml (5).\n"
         ".B davit help\n.I COMMAND\nprints what the pages of the commands say.\n.SH COMMANDS\n";
  std::vector<std::pair<std::string, int>> pages;
  for (const Command* command : davit.commands()) {
    out += manual_item("\\fBdavit " + roff(command->get_name()) + "\\fR",
                       roff(sentence(command->get_description())));
    pages.emplace_back("davit-" + command->get_name(), 1);
  }
  out += ".SH OPTIONS\n";
  out += options_text(davit.all_options(), false);
  out += exit_status();
  out +=
      ".SH ENVIRONMENT\n" +
      manual_item("\\fBDAVIT_SERVER\\fR",
                  "Address of the server for commands that call one, unless \\fB\\-\\-server\\fR "
                  "names another.") +
      manual_item("\\fBNO_COLOR\\fR", "When it is set, tables have no colours.") + ".SH FILES\n" +
      manual_item("\\fI/etc/davit\\fR", "Configurations; each is an example and a reference.") +
      manual_item("\\fI/run/davit/operator.sock\\fR",
                  "The socket of a packaged server, which commands call.");
  pages.emplace_back("davit.toml", 5);
  pages.emplace_back("davit-plugin", 7);
  return out + see_also(pages);
}

std::string manual_of_command(const Command& command) {
  std::string out = manual_head("davit-" + command.get_name(), 1, command.get_description());
  out += ".SH SYNOPSIS\n";
  if (command.commands().empty()) out += synopsis(command);
  const char* separator = "";
  for (const Command* verb : command.commands()) {
    out += separator + synopsis(*verb);
    separator = ".br\n";
  }
  out += ".SH DESCRIPTION\n" + roff(sentence(command.get_description())) + "\n" +
         options_text(command.get_options(), true);
  out += verbs_text(command);
  if (const std::string options = options_text(command.all_options(), false); !options.empty())
    out += ".SH OPTIONS\n" + options;
  out += exit_status();
  if (const std::string examples = examples_text(command); !examples.empty())
    out += ".SH EXAMPLES\n" + examples.substr(std::string_view(".PP\n").size());
  return out + see_also({{"davit", 1}, {"davit.toml", 5}});
}

CommandPtr manual_command(const Command& davit) {
  auto folder = std::make_shared<std::string>();
  auto command =
      std::make_shared<Command>("__manual", "DIR", "write the manual pages", [=, &davit] {
        if (folder->empty()) throw UsageError("names no folder");
        return write_manual(davit, *folder);
      });
  command->word("DIR", *folder, "the folder of man1 and man5");
  command->group("");
  return command;
}

}  // namespace davit::host

#include "command_line.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "command_words.hpp"
#include "config/suggest.hpp"
#include "duration.hpp"
#include "exit_codes.hpp"

namespace davit::host {

namespace {

// More words than a command line has. CLI11 then takes them one by one, and none for a list of its
// own ("[a,b]").
constexpr int words_max = 1 << 20;

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names,
                         const std::string& otherwise = {}) {
  const std::string near = nearest(typed, names);
  return near.empty() ? otherwise : "; did you mean \"" + near + "\"?";
}

// Returns `code` if the output has been written, otherwise the code of a failure. A pipe whose
// reader is gone is not reported.
int written(const std::string& name, int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int why = errno;
  if (why != EPIPE) {
    std::fprintf(stderr, "davit %s: the output cannot be written%s%s\n",
                 name.empty() ? "help" : name.c_str(), why == 0 ? "" : ": ",
                 why == 0 ? "" : std::strerror(why));
  }
  return code == exit_code_done ? exit_code_failed : code;
}

// "backup, restore or verify".
std::string alternatives(const std::vector<const Command*>& commands) {
  std::string out;
  for (const Command* command : commands) {
    if (!out.empty()) out += command == commands.back() ? " or " : ", ";
    out += command->get_name();
  }
  return out;
}

// The options that a command takes; of davit itself, and of all commands.
std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> out;
  for (const CLI::Option* option : command.all_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  if (command.parent() != nullptr) return out;
  const std::function<void(const Command&)> add = [&](const Command& above) {
    for (const Command* below : above.commands()) {
      for (const CLI::Option* option : below->get_options()) {
        for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
      }
      add(*below);
    }
  };
  add(command);
  return out;
}

// "storage" of "storage backup".
std::string first_name(const Command& command) {
  const std::string path = command.path();
  return path.substr(0, path.find(' '));
}

// What CLI11 found, in our words.
std::string problem_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch))
    return "option " + text.substr(0, text.find(':')) + " needs a value";
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError)) {
    // Only flags convert: "Could not convert: --watch = maybe".
    const size_t name = text.find("--"), value = text.find(" = ");
    if (name < value && value != std::string::npos)
      return text.substr(name, value - name) + " takes no value \"" + text.substr(value + 3) + "\"";
  }
  return text;
}

}  // namespace

Command::Command(const std::string& name, std::string usage, const std::string& summary, Run run)
    : CLI::App(summary, name), usage_(std::move(usage)), run_(std::move(run)) {
  set_help_flag("-h,--help", "print this");
  option_defaults()->take_last();
  allow_extras();  // refuse_unknown() names them
  // After the first one, a word such as "get" is no command.
  require_subcommand(0, 1);
}

void Command::verb(std::shared_ptr<Command> verb) {
  verb->fallthrough();
  add_subcommand(std::move(verb));
}

CLI::Option* Command::word(const std::string& name, std::string& into, const std::string& about) {
  return add_option(name, into, about)->type_name(name);
}

CLI::Option* Command::words(const std::string& name, std::vector<std::string>& into,
                            const std::string& about) {
  return add_option(name, into, about)
      ->type_name(name)
      ->expected(words_max)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::Option* Command::option(const std::string& names, const std::string& value, std::string& into,
                             const std::string& about) {
  return add_option(names, into, about)->type_name(value);
}

CLI::Option* Command::options(const std::string& names, const std::string& value,
                              std::vector<std::string>& into, const std::string& about) {
  return add_option(names, into, about)->type_name(value)->take_all()->allow_extra_args(false);
}

CLI::Option* Command::duration(const std::string& name, const std::string& example,
                               std::optional<std::chrono::milliseconds>& into,
                               const std::string& about) {
  const auto read = [name, &into](const std::string& text) {
    into = parse_duration(text);
    if (!into) throw UsageError(name + " must be like 60s, 5m or 7d, not \"" + text + "\"");
  };
  return add_option_function<std::string>(name, read, about)->type_name(example);
}

CLI::Option* Command::flag(const std::string& names, bool& into, const std::string& about) {
  return add_flag(names, into, about);
}

void Command::no_option(const std::string& names, const std::string& why) {
  const auto refuse = [why](const std::string&) { throw UsageError(why); };
  add_option_function<std::string>(names, refuse, why)->type_name("NONE")->group("");
}

void Command::examples(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  footer(text);
}

std::string Command::path() const {
  if (parent() == nullptr) return {};
  const std::string above = parent()->path();
  return above.empty() ? get_name() : above + " " + get_name();
}

std::vector<const Command*> Command::commands() const {
  std::vector<const Command*> out;
  for (const CLI::App* app : get_subcommands({})) {
    if (!app->get_group().empty()) out.push_back(static_cast<const Command*>(app));
  }
  return out;
}

const Command* Command::find(const std::string& name) const {
  for (const Command* command : commands()) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

const Command& Command::command(const std::string& name) const {
  if (const Command* found = find(name); found != nullptr) return *found;
  std::vector<std::string> names;
  for (const Command* command : commands()) names.push_back(command->get_name());
  throw UsageError("no command \"" + name + "\"" + did_you_mean(name, names, "; see davit help"));
}

std::vector<const CLI::Option*> Command::all_options() const {
  std::vector<const CLI::Option*> out;
  for (const Command* at = this; at != nullptr; at = at->parent()) {
    if (at != this && at->parent() == nullptr) break;  // davit's own are for davit alone
    for (const CLI::Option* option : at->get_options()) {
      if (option->nonpositional() && (at == this || option != at->get_help_ptr()))
        out.push_back(option);
    }
  }
  return out;
}

const Command& Command::chosen() const {
  const auto below = get_subcommands();
  return below.empty() ? *this : static_cast<const Command*>(below.front())->chosen();
}

void Command::refuse_unknown() const {
  const bool davit = parent() == nullptr;
  const bool below = !get_subcommands().empty();  // one of its commands was named
  for (const std::string& word : remaining()) {
    if (word == "--") continue;
    if (word.size() > 1 && word.front() == '-') {
      const std::string name = word.substr(0, word.find('='));
      if (davit && !below && option_below(*this, name) != nullptr)
        throw UsageError("which command? (" + name + " is an option of commands; see davit help)");
      throw UsageError("unknown option " + word +
                       did_you_mean(name, option_names(davit && !below ? *this : chosen())));
    }
    if (commands().empty() || below) throw UsageError("unexpected \"" + word + "\"");
    command(word);
  }
}

int Command::refuse(const std::string& problem) const {
  const std::string path = this->path();
  if (path.empty()) {
    std::fprintf(stderr, "davit: %s\n", problem.c_str());
  } else {
    std::fprintf(stderr, "davit %s: %s (usage: davit %s %s)\n", first_name(*this).c_str(),
                 problem.c_str(), path.c_str(), usage_.c_str());
  }
  return exit_code_usage;
}

int Command::run(std::vector<std::string> words) {
  std::string problem;
  words = words_for_cli11(*this, words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
  try {
    parse(std::move(words));
  } catch (const CLI::CallForVersion& version) {
    std::puts(version.what());
    return written("--version", exit_code_done);
  } catch (const CLI::ParseError& error) {
    problem = problem_of(error);
  } catch (const UsageError& error) {
    problem = error.what();
  }
  const Command& command = chosen();
  for (const Command* at = &command; at != nullptr; at = at->parent()) {
    if (at->get_help_ptr()->count() == 0) continue;
    std::fputs(help_of(command).c_str(), stdout);
    return written(first_name(command), exit_code_done);
  }
  const Command* speaker = this;
  try {
    refuse_unknown();
    speaker = &command;
    if (command.parent() != nullptr) command.parent()->refuse_unknown();
    command.refuse_unknown();
    if (!problem.empty()) throw UsageError(problem);
    if (command.run_) return written(first_name(command), command.run_());
    throw UsageError("what? (" + alternatives(command.commands()) + ")");
  } catch (const UsageError& error) {
    return speaker->refuse(error.what());
  }
}

}  // namespace davit::host

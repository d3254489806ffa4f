// The command line of davit: a tree of CLI11's apps. Each node is a Command: a command, a verb of a
// command (`storage backup`), or davit itself. CLI11 splits the words and fills in the options;
// this adds what a command does, its usage line, and suggestions for what is mistyped.
//
//   auto o = std::make_shared<Options>();
//   auto command = std::make_shared<Command>("get", "[KIND [ID]]", "show desired state",
//                                            [o] { return get(*o); });
//   command->word("KIND", o->kind, "of this kind only");
//   command->option("-r,--region", "R", o->region, "of this region only");
//   command->flag("-w,--watch", o->watch, "and then each change, as it comes");
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace davit::host {

// What is wrong with the words of a command. CLI11 throws its errors too.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Command : public CLI::App {
 public:
  // Returns an ExitCode. Throws a UsageError before it does anything else.
  using Run = std::function<int()>;

  // `usage` is the words after the name. A command without `run` has verbs.
  Command(const std::string& name, std::string usage, const std::string& summary, Run run = {});

  // A verb also takes the options of its command.
  void verb(std::shared_ptr<Command> verb);
  // A positional word, and any number of them.
  CLI::Option* word(const std::string& name, std::string& into, const std::string& about);
  CLI::Option* words(const std::string& name, std::vector<std::string>& into,
                     const std::string& about);
  // An option with a value; the last one wins. `value` names what it takes: FILE and DIR are
  // completed by the names of files, "table|json" by its alternatives.
  CLI::Option* option(const std::string& names, const std::string& value, std::string& into,
                      const std::string& about);
  // The same with every value in order: "-f a -f b".
  CLI::Option* options(const std::string& names, const std::string& value,
                       std::vector<std::string>& into, const std::string& about);
  // A length of time such as "60s".
  CLI::Option* duration(const std::string& name, const std::string& example,
                        std::optional<std::chrono::milliseconds>& into, const std::string& about);
  CLI::Option* flag(const std::string& names, bool& into, const std::string& about);
  // An option that others have and this command does not: it is no part of the help, and using it
  // is refused with `why`.
  void no_option(const std::string& names, const std::string& why);
  // Lines of `davit ...` for the help.
  void examples(const std::vector<std::string>& lines);

  const std::string& usage() const { return usage_; }
  // The names from davit's command on: "storage backup". Empty: davit itself.
  std::string path() const;
  const Command* parent() const { return static_cast<const Command*>(get_parent()); }
  std::vector<const Command*> commands() const;  // those that help lists
  // One of them. find() returns nullptr if there is none, command() throws a UsageError.
  const Command* find(const std::string& name) const;
  const Command& command(const std::string& name) const;
  // Its own options and then those of the commands above it.
  std::vector<const CLI::Option*> all_options() const;

  // Reads the words and does what they say. Returns an ExitCode. Errors go to standard error, as
  // "davit NAME: problem (usage: davit NAME ...)", and are exit_code_usage.
  int run(std::vector<std::string> words);

 private:
  const Command& chosen() const;
  void refuse_unknown() const;
  int refuse(const std::string& problem) const;

  std::string usage_;
  Run run_;
};

// What `davit PATH --help` prints.
std::string help_of(const Command& command);

}  // namespace davit::host

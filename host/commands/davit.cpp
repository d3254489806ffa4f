#include "davit.hpp"

#include <cstdio>

#include "completion.hpp"
#include "exit_codes.hpp"
#include "manual.hpp"
#include "version/version.hpp"

namespace davit::host {

namespace {

int print_help(const Command& command) {
  std::fputs(help_of(command).c_str(), stdout);
  return exit_code_done;
}

// `davit help get` is `davit get --help`.
CommandPtr help_command(const Command& davit) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto command = std::make_shared<Command>(
      "help", "[COMMAND]", "print this; davit COMMAND --help describes a command", [&davit, words] {
        const Command* of = &davit;
        for (const std::string& word : *words) of = &of->command(word);
        return print_help(*of);
      });
  command->words("COMMAND", *words, "a command, and its verb");
  return command;
}

CommandPtr version_command() {
  auto command =
      std::make_shared<Command>("version", "", "print the version, the build and the ABI", [] {
        std::puts(version_text().c_str());
        return exit_code_done;
      });
  command->group("");
  return command;
}

}  // namespace

CommandPtr davit_command() {
  auto davit = std::make_shared<Command>(
      "davit", "COMMAND",
      "davit keeps Kubernetes clusters in many regions as a control plane wants them");
  davit->set_version_flag("--version", version_text(), "print the version, the build and the ABI");
  for (const auto& make :
       {run_command, check_command, config_command, plugin_command, apply_command, diff_command,
        get_command, describe_command, delete_command, status_command, wait_command, agent_command,
        token_command, storage_command, federation_command, clusters_command, explain_command,
        completion_command})
    davit->add_subcommand(make());
  davit->add_subcommand(help_command(*davit));
  davit->add_subcommand(version_command());
  davit->add_subcommand(complete_command(*davit));
  davit->add_subcommand(manual_command(*davit));
  return davit;
}

int run_davit(std::vector<std::string> words) {
  const CommandPtr davit = davit_command();
  if (!words.empty()) return davit->run(std::move(words));
  std::fputs(help_of(*davit).c_str(), stderr);
  return exit_code_usage;
}

}  // namespace davit::host

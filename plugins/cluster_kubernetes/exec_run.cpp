#include "exec_run.hpp"

#include <unistd.h>

namespace davit::cluster_kubernetes {
namespace {

std::vector<std::string> present_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

}  // namespace

Result<Credential> run_exec_plugin(const ExecPlugin& plugin, std::chrono::milliseconds time_limit,
                                   const process::Stopper& stopper) {
  process::Command command;
  command.program = plugin.command;
  command.args = plugin.args;
  command.environment = exec_environment(plugin, present_environment());
  command.time_limit = time_limit;
  const process::Ran ran = process::run(command, stopper);
  Result<Credential> out = Error{Code::unauthenticated, ran.failure};
  if (ran.failure.empty()) out = parse_exec_credential(ran.output.view(), plugin);
  if (out.ok()) return out;
  Error error = out.error().in("exec plugin \"" + plugin.command + "\"");
  if (const std::string said = one_line(ran.errors); !said.empty())
    error.message += "; it says: " + said;
  if (!ran.found && !plugin.install_hint.empty()) error.message += "; " + plugin.install_hint;
  return error;
}

}  // namespace davit::cluster_kubernetes

#include "exec_runner.hpp"

#include <unistd.h>

namespace davit::cluster_kubernetes {
namespace {

std::vector<std::string> present_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

}  // namespace

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin,
                                       std::chrono::milliseconds time_limit,
                                       const Stopper& stopper) {
  Command command{plugin.command, plugin.args, exec_environment(plugin, present_environment()),
                  time_limit};
  const Ran ran = run(command, stopper);
  Result<ExecCredential> out = Error{Code::unauthenticated, ran.failure};
  if (ran.failure.empty()) out = parse_exec_credential(ran.output.view(), plugin);
  if (out.ok()) return out;
  Error error = out.error().in("exec plugin \"" + plugin.command + "\"");
  if (const std::string said = one_line(ran.errors); !said.empty())
    error.message += "; it says: " + said;
  if (!ran.found && !plugin.install_hint.empty()) error.message += "; " + plugin.install_hint;
  return error;
}

void ExecRunner::end() {
  ended_for_good_ = true;
  stopper_.stop();
  if (thread_.joinable()) thread_.join();
}

void ExecRunner::start(const ExecPlugin& plugin) {
  if (running_ || ended_for_good_) return;
  if (thread_.joinable()) thread_.join();
  running_ = true;
  thread_ = std::thread([this, plugin] {
    auto result = run_exec_plugin(plugin, time_limit_, stopper_);
    {
      const std::lock_guard lock(mutex_);
      result_.emplace(std::move(result));
    }
    ended_();
  });
}

std::optional<Result<ExecCredential>> ExecRunner::take() {
  if (!running_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!result_) return std::nullopt;
  running_ = false;
  return std::exchange(result_, std::nullopt);
}

}  // namespace davit::cluster_kubernetes

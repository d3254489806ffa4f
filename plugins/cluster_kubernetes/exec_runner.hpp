// Runs an exec plugin on a thread of its own, one at a time. Credentials owns it and asks for the
// result; nobody waits for the program.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "exec_plugin.hpp"
#include "process.hpp"

namespace davit::cluster_kubernetes {

class ExecRunner {
 public:
  // `ended` is called on the runner's thread when there is a result to take.
  ExecRunner(std::chrono::milliseconds time_limit, std::function<void()> ended)
      : time_limit_(time_limit), ended_(std::move(ended)) {}
  ~ExecRunner() { end(); }
  ExecRunner(const ExecRunner&) = delete;
  ExecRunner& operator=(const ExecRunner&) = delete;

  // These two belong to one thread. A run begins only when none is under way.
  void start(const ExecPlugin& plugin);
  bool running() const { return running_; }
  // Kills a plugin that runs; none begins after it.
  void end();
  // Once for each run.
  std::optional<Result<ExecCredential>> take();

 private:
  const std::chrono::milliseconds time_limit_;
  const std::function<void()> ended_;
  Stopper stopper_;
  std::thread thread_;
  bool running_ = false;
  bool ended_for_good_ = false;
  std::mutex mutex_;
  std::optional<Result<ExecCredential>> result_;
};

// Runs the plugin to its end. Every error begins with its name.
Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin,
                                       std::chrono::milliseconds time_limit,
                                       const Stopper& stopper);

}  // namespace davit::cluster_kubernetes

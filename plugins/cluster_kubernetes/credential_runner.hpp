// Has a credential made on a thread of its own, one at a time: by an exec plugin or a token server,
// which may take long. Credentials owns it and asks for the result; nobody waits for it.
#pragma once

#include <davit/operation.hpp>

#include <mutex>
#include <thread>

#include "credential.hpp"
#include "process/process.hpp"

namespace davit::cluster_kubernetes {

class CredentialRunner {
 public:
  // Blocks, and ends soon after end().
  using Make = std::function<Result<Credential>()>;

  // `ended` is called on the runner's thread when there is a result to take.
  explicit CredentialRunner(std::function<void()> ended) : ended_(std::move(ended)) {}
  ~CredentialRunner() { end(); }
  CredentialRunner(const CredentialRunner&) = delete;
  CredentialRunner& operator=(const CredentialRunner&) = delete;

  // These two belong to one thread. A run begins only when none is under way.
  void start(Make make);
  bool running() const { return running_; }
  // Ends a run that is under way; none begins after it.
  void end();
  // Once for each run.
  std::optional<Result<Credential>> take();

  // What end() ends, for a program and for a request.
  const process::Stopper& stopper() const { return stopper_; }
  const Operation& operation() const { return operation_; }

 private:
  const std::function<void()> ended_;
  process::Stopper stopper_;
  const Operation operation_;
  std::thread thread_;
  bool running_ = false;
  bool ended_for_good_ = false;
  std::mutex mutex_;
  std::optional<Result<Credential>> result_;
};

}  // namespace davit::cluster_kubernetes

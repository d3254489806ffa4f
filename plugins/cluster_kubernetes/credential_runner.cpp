#include "credential_runner.hpp"

namespace davit::cluster_kubernetes {

void CredentialRunner::end() {
  ended_for_good_ = true;
  stopper_.stop();
  operation_.cancel();
  if (thread_.joinable()) thread_.join();
}

void CredentialRunner::start(Make make) {
  if (running_ || ended_for_good_) return;
  if (thread_.joinable()) thread_.join();
  running_ = true;
  thread_ = std::thread([this, make = std::move(make)] {
    auto result = make();
    {
      const std::lock_guard lock(mutex_);
      result_.emplace(std::move(result));
    }
    ended_();
  });
}

std::optional<Result<Credential>> CredentialRunner::take() {
  if (!running_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!result_) return std::nullopt;
  running_ = false;
  return std::exchange(result_, std::nullopt);
}

}  // namespace davit::cluster_kubernetes

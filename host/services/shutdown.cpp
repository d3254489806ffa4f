#include "shutdown.hpp"

namespace davit::host {

void Shutdown::request(std::string_view instance, std::string_view reason,
                       std::chrono::steady_clock::time_point deadline) {
  Request now;
  {
    std::lock_guard lock(mutex_);
    if (request_ && request_->deadline <= deadline) return;
    if (!request_) request_ = {std::string(instance), std::string(reason), deadline};
    request_->deadline = deadline;
    now = *request_;
  }
  if (listener_) listener_(now);
}

std::optional<Shutdown::Request> Shutdown::requested() const {
  std::lock_guard lock(mutex_);
  return request_;
}

void Shutdown::on_request(std::function<void(const Request&)> listener) {
  listener_ = std::move(listener);
}

}  // namespace davit::host

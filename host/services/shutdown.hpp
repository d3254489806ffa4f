// Requests of plugins to end the process. The application listens and carries them out. [any]
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace davit::host {

class Shutdown {
 public:
  struct Request {
    std::string instance, reason;                    // of the first request
    std::chrono::steady_clock::time_point deadline;  // the earliest of all requests
  };
  // Only a request that is the first, or that has an earlier deadline, changes anything.
  void request(std::string_view instance, std::string_view reason,
               std::chrono::steady_clock::time_point deadline);
  // None: no plugin has asked for an end.
  std::optional<Request> requested() const;
  // Sets the listener, before the first request. It runs after every request that changed
  // something, on that request's thread.
  void on_request(std::function<void(const Request&)> listener);

 private:
  mutable std::mutex mutex_;
  std::function<void(const Request&)> listener_;
  std::optional<Request> request_;
};

}  // namespace davit::host

// What plugins want the process to end for. The application listens and does it. [any]
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
    std::string instance, reason;                    // of who asked first
    std::chrono::steady_clock::time_point deadline;  // the earliest of all
  };
  void request(std::string_view instance, std::string_view reason,
               std::chrono::steady_clock::time_point deadline);
  // None: nobody wants it to end.
  std::optional<Request> requested() const;
  // Runs after every request that changed something, on the thread that made it. Before the first.
  void on_request(std::function<void(const Request&)> listener);

 private:
  mutable std::mutex mutex_;
  std::function<void(const Request&)> listener_;
  std::optional<Request> request_;
};

}  // namespace davit::host

// What every call of a client carries, whatever the transport. Any thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include <davit/types.hpp>

#include "settings.hpp"
#include "started_call.hpp"
#include "token_file.hpp"

namespace davit::host {

class Caller {
 public:
  explicit Caller(const ClientSettings& s) : settings_(s), token_(s.token_file) {}

  // Whether the files it needs can be used; the error names the client.
  Result<> check();
  // Authorization and the region's headers.
  Result<Pairs> metadata();
  // As the plugin is told it: "control: " in front.
  std::string described(const std::string& message) const {
    return settings_.name + ": " + message;
  }

  // The calls that have not ended.
  void begun(StartedCall*);
  void ended(StartedCall*);
  // Cancels them and waits; false when some are left at the deadline.
  bool end_all(std::chrono::steady_clock::time_point deadline);

 private:
  const ClientSettings& settings_;
  TokenFile token_;
  std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<StartedCall*> open_;
};

}  // namespace davit::host

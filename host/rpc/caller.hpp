// What every call of a client carries, whatever the transport. Any thread.
#pragma once

#include <atomic>
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
  // Of the token's file that was read last (token_file.hpp).
  std::string doubt() { return token_.doubt(); }
  // Authorization and the region's headers.
  Result<Pairs> metadata();
  // Words the end of a call as the plugin is told it: "control: " in front, and behind it what it
  // means when no call has been answered yet.
  void describe(End&);
  // The server speaks with us: an end that comes later is not for want of a common language.
  void is_answered() { answered_.store(true, std::memory_order_relaxed); }

  // The calls that have not ended.
  void begun(StartedCall*);
  void ended(StartedCall*);
  // Cancels them and waits; false when some are left at the deadline.
  bool end_all(std::chrono::steady_clock::time_point deadline);

 private:
  const ClientSettings& settings_;
  TokenFile token_;
  std::atomic<bool> answered_{false};
  std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<StartedCall*> open_;
};

}  // namespace davit::host

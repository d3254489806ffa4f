// Caller holds what all calls of one [rpc.client.NAME] share on either transport: credentials, the
// wording of errors, and the list of open calls. All functions may be called from any thread.
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

class Log;

class Caller {
 public:
  Caller(Log& log, const ClientSettings& s) : log_(log), settings_(s), token_(s.token_file) {}

  // Whether the token and TLS files can be used. The error names the client.
  Result<> check();
  // Why the token's file is doubtful (doubt_about_token). Empty if it is not.
  std::string doubt() { return token_.doubt(); }
  // The Authorization header, x-krane-region and x-krane-platform.
  Result<Pairs> metadata();
  // Completes the message of an end for the plugin. It puts the client's name in front ("control:
  // "). Until a server has answered, it appends a hint to UNAVAILABLE (hint_of).
  void describe(End&);
  // The server has answered. Later errors get no hint that only one end uses TLS.
  void is_answered() { answered_.store(true, std::memory_order_relaxed); }

  // Logs that the plugin of a call broke the contract.
  void log_misuse(const std::string& path, const char* what);

  // Keep the list of open calls.
  void begun(StartedCall*);
  void ended(StartedCall*);
  // Cancels all open calls and waits for them. False if some are left at the deadline.
  bool end_all(std::chrono::steady_clock::time_point deadline);

 private:
  Log& log_;
  const ClientSettings& settings_;
  TokenFile token_;
  std::atomic<bool> answered_{false};
  std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<StartedCall*> open_;
};

}  // namespace davit::host

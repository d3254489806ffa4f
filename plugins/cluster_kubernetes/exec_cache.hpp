// Decides when an exec plugin runs: a credential is used until it expires or the API server refuses
// it, and a plugin that fails is not asked by every request. Credentials carries it out. Pure.
#pragma once

#include <davit/backoff.hpp>
#include <optional>

namespace davit::cluster_kubernetes {

class ExecCache {
 public:
  using Time = std::chrono::nanoseconds;  // of one monotonic clock
  enum class Say { use, run, wait, fail };

  // What a request is to do: use the credential, run the plugin first, wait for the plugin that
  // runs, or fail as the plugin has failed.
  Say ask(Time now, int64_t unix_ms) const;

  void began() { running_ = true; }
  void made(Time now, std::optional<int64_t> expires_unix_ms);
  void failed(Time now, uint64_t random);
  // Another plugin than before: nothing is known.
  void forget() { *this = ExecCache(); }

  // The API server has accepted, or not accepted, the credential. `refused` returns true if another
  // one may help: the request waits for it and is sent again.
  void accepted();
  bool refused(Time now, uint64_t random);

 private:
  // However short it says that it lives: a clock may be wrong.
  static constexpr std::chrono::seconds lives_at_least{1};

  bool running_ = false, there_ = false, refused_ = false;
  std::optional<int64_t> expires_unix_ms_;
  Time made_at_{0};
  Time failed_until_{0};   // after a failure no run begins before
  Time trusted_until_{0};  // after refusals in a row a refusal does not count before
  Backoff failures_{{std::chrono::seconds(1), std::chrono::seconds(30)}};
  Backoff refusals_{{std::chrono::seconds(2), std::chrono::seconds(60)}};
};

}  // namespace davit::cluster_kubernetes

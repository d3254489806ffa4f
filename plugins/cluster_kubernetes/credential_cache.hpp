// Decides when a credential is made, by an exec plugin or a token server: it is used until it
// expires or the API server refuses it, a new one is made before that if there is time, and what
// fails is not asked by every request. Credentials carries it out. Pure.
#pragma once

#include <davit/backoff.hpp>
#include <optional>

#include "credential.hpp"

namespace davit::cluster_kubernetes {

class CredentialCache {
 public:
  using Time = std::chrono::nanoseconds;  // of one monotonic clock
  // `renew`: use it, and make the next one meanwhile.
  enum class Say { use, renew, run, wait, fail };

  // What a request is to do: use the credential, have it made first, wait for what makes it, or
  // fail as that has failed.
  Say ask(Time now, int64_t unix_ms) const;

  void began() { running_ = true; }
  void made(Time now, const Credential& credential);
  void failed(Time now, uint64_t random, std::chrono::milliseconds retry_after = {});
  // Another plugin than before: nothing is known.
  void forget() { *this = CredentialCache(); }

  // Whether there is one that may be used, and until when.
  bool usable(Time now, int64_t unix_ms) const;
  std::optional<int64_t> expires_unix_ms() const { return expires_unix_ms_; }

  // The API server has accepted, or not accepted, the credential. `refused` returns true if another
  // one may help: the request waits for it and is sent again.
  void accepted();
  bool refused(Time now, uint64_t random);

 private:
  // However short it says that it lives: a clock may be wrong.
  static constexpr std::chrono::seconds lives_at_least{1};

  bool running_ = false, there_ = false, refused_ = false;
  std::optional<int64_t> expires_unix_ms_, renew_unix_ms_;
  Time made_at_{0};
  Time failed_until_{0};   // after a failure no run begins before
  Time trusted_until_{0};  // after refusals in a row a refusal does not count before
  Backoff failures_{{std::chrono::seconds(1), std::chrono::seconds(30)}};
  Backoff refusals_{{std::chrono::seconds(2), std::chrono::seconds(60)}};
};

}  // namespace davit::cluster_kubernetes

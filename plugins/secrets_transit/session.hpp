// Session: the token that calls are made with. It is read from a file for each call, or comes from
// a login, which is renewed before it ends, replaced when it cannot be renewed, and revoked when
// Davit stops. Any thread; whatever takes an Op blocks.
#pragma once

#include <memory>
#include <mutex>

#include "answer.hpp"
#include "api.hpp"
#include "davit/backoff.hpp"
#include "davit/outstanding.hpp"
#include "lease.hpp"
#include "one_at_a_time.hpp"
#include "secret_store/token_file.hpp"

namespace davit::secrets_transit {

class Session : public std::enable_shared_from_this<Session> {
 public:
  // After a login that failed, none is tried for so long: whoever asks gets the same error.
  static constexpr std::chrono::milliseconds login_pause{1'000};
  // A token that is younger is not replaced because a call was refused.
  static constexpr std::chrono::milliseconds login_age{10'000};

  // The answer to a login is waited for so long after its caller has given up.
  static constexpr std::chrono::milliseconds login_patience{2'000};

  Session(Host host, const TransitSettings& settings, std::shared_ptr<Api> api,
          std::chrono::milliseconds request_timeout);

  // Whether the files can be read now.
  Result<> check() const;
  // A copy of the token. Logs in when there is none.
  Result<Secret> token(const Op& op);
  // After a call with this token was answered 403: another token; nothing, when the token is good
  // and it is the policies that forbid the call. UNAUTHENTICATED: no token is to be had.
  Result<std::optional<Secret>> after_refusal(const Secret& refused, const Op& op);
  // Revokes the token, if it comes from a login. No call follows.
  Result<> end(const Op& op);

 private:
  bool by_file() const { return settings_.auth == TransitSettings::Auth::token; }
  Result<Secret> log_in(const Secret* refused, const Op& op);
  Result<Granted> ask_for_login(const Op& op);
  void keep(Granted granted);
  bool is_good(const Secret& token, const Op& op);
  void arm(std::chrono::nanoseconds in);
  static void begin_refresh(const std::weak_ptr<Session>& weak);
  void refresh(const Operation& operation);
  bool renew(const Secret& token, const Op& op);

  const Host host_;
  const TransitSettings settings_;
  const std::shared_ptr<Api> api_;
  const std::chrono::milliseconds request_timeout_;
  secret_store::TokenFile file_, secret_id_, service_account_;
  const Strand strand_;  // of the timers
  Timer timer_, login_patience_;
  const Operations operations_;  // of what nobody waits for
  Outstanding open_;

  OneAtATime login_;  // one logs in, and the others wait

  mutable std::mutex mutex_;  // guards what follows
  std::optional<Secret> token_;
  Lease lease_;
  std::chrono::nanoseconds logged_in_{0}, failed_{0};
  std::optional<Error> failure_;  // of the last login
  Backoff backoff_{Backoff::Limits{std::chrono::seconds(1), std::chrono::seconds(30)}};
  bool over_ = false;
};

}  // namespace davit::secrets_transit

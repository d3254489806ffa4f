// Vault: what all calls of an instance share: the way to the Vault, the token, the circuit breaker,
// the cache, and what is said about them in log, metrics and health. Any thread; call() blocks.
#pragma once

#include <mutex>

#include "blame.hpp"
#include "outcome.hpp"
#include "settings.hpp"
#include "token.hpp"

namespace davit::secrets_vault {

class Vault : public std::enable_shared_from_this<Vault> {
 public:
  using Permit = http::Breaker::Permit;

  Vault(Host host, VaultSettings settings);

  const VaultSettings& settings() const { return settings_; }
  // Whether the files that the settings name can be read.
  Result<> check() const;

  // The cache. Values that a batch wants and that are there become known to it.
  void look_up(Batch& batch);
  // Keeps what the part asked for.
  void keep(const Batch& batch, const Batch::Part& part,
            const std::vector<std::optional<Secret>>& values);

  // Whether a call may be sent now. Whoever is not refused tells its end by note().
  Permit ask();
  // What whoever is refused is told.
  Error refusal() const;
  // One call. A token that is refused is read again, and sent again when it is another one. Blocks.
  Outcome call(const Batch& batch, const Batch::Part& part, const Op& op);
  void note(Permit permit, const Outcome& outcome);

  // Whether items that were refused alone are bad, rather than the Vault.
  bool items_are_bad(const std::vector<ItemKey>& refused);
  // Counts what became of the items.
  void count(const secrets::Results& results);
  void forget_all();  // wipes the cache

 private:
  Outcome send(const Batch& batch, const Batch::Part& part, const Op& op);
  Result<http::Response> post(const Secret& token, std::string_view body, const Op& op);
  Metric counter(const char* name, const char* help, Pairs labels = {}) const;
  void note_failure(const Outcome& outcome);
  void note_answer(const Outcome& outcome);
  void show_state();
  void arm_expiry();

  const Host host_;
  const VaultSettings settings_;
  const std::string url_;
  http::Client client_;
  Token token_;
  const Strand strand_;  // of the timer
  Timer expiry_;
  const Metric hits_, misses_, kept_, breaker_gauge_, opened_total_, seconds_;

  mutable std::mutex mutex_;  // guards what follows
  http::Breaker breaker_;
  Cache cache_;
  Blame blame_;
  uint64_t failures_ = 0;  // in a row
  bool token_refused_ = false;
  bool strangers_told_ = false;
  bool expiry_armed_ = false;
};

}  // namespace davit::secrets_vault

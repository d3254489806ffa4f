// Store: what all calls of an instance share: the circuit breaker, the cache, and what is said
// about them in log, metrics and health. Any thread; call() blocks.
//
// Protocol: how one kind of Vault is asked.
#pragma once

#include <memory>
#include <mutex>

#include "blame.hpp"
#include "outcome.hpp"
#include "settings.hpp"

namespace davit::secret_store {

class Protocol {
 public:
  virtual ~Protocol() = default;
  // What to ask for because of an item. An error: no call can resolve it. Any thread.
  virtual Result<Batch::Asked> ask_for(const secrets::Item& item) const = 0;
  // One call. Blocks; any thread.
  virtual Outcome call(const Batch& batch, const Batch::Part& part, const Op& op) = 0;
  // Whether the files that the settings name can be read.
  virtual Result<> check() const = 0;
  // What a person does when the Vault does not accept the token.
  virtual std::string advice() const = 0;
};

class Store : public std::enable_shared_from_this<Store> {
 public:
  using Permit = http::Breaker::Permit;

  Store(Host host, StoreSettings settings, std::unique_ptr<Protocol> protocol);

  const StoreSettings& settings() const { return settings_; }
  Result<> check() const { return protocol_->check(); }
  Result<Batch::Asked> ask_for(const secrets::Item& item) const { return protocol_->ask_for(item); }

  // The cache. Values that a batch wants and that are there become known to it.
  void look_up(Batch& batch);
  // Keeps what the part asked for.
  void keep(const Batch& batch, const Batch::Part& part, const Outcome& outcome);

  // Whether a call may be sent now. Whoever is not refused tells its end by note().
  Permit ask();
  // What whoever is refused is told.
  Error refusal() const;
  // One call. Blocks.
  Outcome call(const Batch& batch, const Batch::Part& part, const Op& op);
  void note(Permit permit, const Outcome& outcome);

  // Whether items that were refused alone are bad, rather than the Vault.
  bool items_are_bad(const std::vector<ItemKey>& refused);
  // Counts what became of the items.
  void count(const secrets::Results& results);
  void forget_all();  // wipes the cache

 private:
  Metric counter(const char* name, const char* help, Pairs labels = {}) const;
  void note_failure(const Outcome& outcome);
  void note_answer(const Outcome& outcome);
  void show_state();
  void arm_expiry();

  const Host host_;
  const StoreSettings settings_;
  const std::unique_ptr<Protocol> protocol_;
  const Strand strand_;  // of the timer
  Timer expiry_;
  const Metric hits_, misses_, kept_, breaker_gauge_, opened_total_, seconds_;

  mutable std::mutex mutex_;  // guards what follows
  http::Breaker breaker_;
  Cache cache_;
  Blame blame_;
  uint64_t failures_ = 0;  // in a row
  std::string last_failure_;
  bool token_refused_ = false;
  bool strangers_told_ = false;
  bool expiry_armed_ = false;
};

}  // namespace davit::secret_store

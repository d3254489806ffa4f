// Resolution: one call of resolve. It works on a strand of its own, calls the Vault on the
// instance's pool, part by part, and waits between attempts by a timer. So callers take turns on
// the pool, and an answer that is due because of a deadline waits for nobody. The decisions are the
// Batch's.
#pragma once

#include "davit/operation.hpp"
#include "davit/outstanding.hpp"
#include "store.hpp"

namespace davit::secret_store {

class Resolution : public std::enable_shared_from_this<Resolution> {
 public:
  // `op` is the caller's, and lives until `done` is called. `own` ends with it, or with the
  // instance. `ticket` is kept until nothing of this runs any more.
  Resolution(Host host, std::shared_ptr<Store> store, const Op& op, Operation own,
             secrets::Done done, Outstanding::Ticket ticket);

  void start(std::vector<secrets::Item> items);

 private:
  void begin(std::vector<secrets::Item> items);
  void step();
  void send(Store::Permit permit, const Batch::Part& part);
  void came(Outcome outcome);
  void retry_or_fail(const Outcome& outcome);
  void give_up();
  void finish(const Error& open);

  const Host host_;
  const std::shared_ptr<Store> store_;
  const Op op_;
  const Operation own_;
  secrets::Done done_;                // empty: it was called
  std::shared_ptr<Resolution> self_;  // until `done` is called
  const Outstanding::Ticket ticket_;
  const Strand strand_;
  Timer deadline_, pause_;
  std::optional<OnCancel> on_cancel_, on_end_;
  std::optional<Batch> batch_;
  Backoff backoff_;
};

}  // namespace davit::secret_store

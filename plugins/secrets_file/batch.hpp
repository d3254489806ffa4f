// One call of `resolve` under way. It works on the instance's pool for a slice of time, and then
// queues behind the others: a call with many items delays no call with few.
#pragma once

#include <atomic>

#include "davit/outstanding.hpp"
#include "resolver.hpp"

namespace davit::secrets_file {

// What the calls of an instance share.
struct Shared {
  Shared(Host h, Resolver r);

  const Host host;
  const Resolver resolver;
  std::atomic<bool> stopping{false};
  Outstanding open;
  Metric resolved, refused;
};

class Batch : public std::enable_shared_from_this<Batch> {
 public:
  // `shared` outlives it. `op` lives until `done` has begun.
  Batch(Shared& shared, const Op& op, std::vector<secrets::Item> items, secrets::Done done);

  // Queues the call. It answers exactly once. [any]
  void queue();

 private:
  void work();
  // The items of one keyring follow each other, and of these the items of one file.
  void arrange();
  Result<secrets::Value> one(const secrets::Item& item);
  void answer();

  const Outstanding::Ticket ticket_;  // first: it goes when all else has gone
  Shared& shared_;
  const Op op_;
  const std::vector<secrets::Item> items_;
  secrets::Done done_;
  std::vector<size_t> order_;  // the items as they are worked on
  size_t next_ = 0;            // in order_
  CallState state_;
  secrets::Results results_;
};

}  // namespace davit::secrets_file

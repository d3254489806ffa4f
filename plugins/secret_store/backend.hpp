// Backend: what a plugin of the role secrets does with its calls: it makes a Resolution of each, as
// long as not too many are open. The plugin's own class has one.
#pragma once

#include <atomic>

#include "resolution.hpp"

namespace davit::secret_store {

class Backend {
 public:
  Backend(Host host, std::shared_ptr<Store> store) : host_(host), store_(std::move(store)) {}

  Store& store() const { return *store_; }
  // Checks the files, and says in the log what is asked.
  Result<> start();
  // Answers what is open, and wipes the cache.
  Result<> stop(const Op& op);
  void resolve(const Op& op, std::vector<secrets::Item> items, secrets::Done done);

 private:
  Outstanding::Ticket ticket_for_one_more();
  void refuse(const std::vector<secrets::Item>& items, const secrets::Done& done) const;

  const Host host_;
  const std::shared_ptr<Store> store_;
  const Operations operations_;
  Outstanding open_;
  const std::shared_ptr<std::atomic<size_t>> open_calls_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace davit::secret_store

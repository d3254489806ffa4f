#include "backend.hpp"

namespace davit::secret_store {

Result<> Backend::start() {
  if (auto r = store_->check(); !r.ok()) return r;
  const auto& url = store_->settings().target.url;
  const std::string doubt = http::doubt(url);
  if (!doubt.empty()) host_.warn("the vault is asked without TLS", {{"reason", doubt}});
  host_.info("secrets are decrypted by", {{"vault", url.host}});
  host_.health(DAVIT_HEALTH_SERVING);
  return {};
}

Result<> Backend::stop(const Op& op) {
  operations_.cancel();
  auto r = open_.wait(host_, op);
  store_->forget_all();
  return r;
}

void Backend::resolve(const Op& op, std::vector<secrets::Item> items, secrets::Done done) {
  if (items.empty()) return done({});
  auto ticket = ticket_for_one_more();
  if (ticket == nullptr) return refuse(items, done);
  std::make_shared<Resolution>(host_, store_, op, operations_.begin(op.deadline_ns()),
                               std::move(done), std::move(ticket))
      ->start(std::move(items));
}

// NULL: as many calls are open as may be.
Outstanding::Ticket Backend::ticket_for_one_more() {
  if (open_calls_->fetch_add(1) >= store_->settings().open_calls_max) {
    open_calls_->fetch_sub(1);
    return nullptr;
  }
  // The pointer is only there to be no NULL.
  return {open_calls_.get(), [open = open_calls_, ticket = open_.begin()](void*) mutable {
            open->fetch_sub(1);
            ticket.reset();
          }};
}

void Backend::refuse(const std::vector<secrets::Item>& items, const secrets::Done& done) const {
  secrets::Results results;
  for (const auto& item : items) {
    results.push_back(Error{Code::resource_exhausted,
                            "too many calls wait for the vault (open_calls_max)",
                            item.type == DAVIT_SECRET_READ ? item.ref : item.keyring});
  }
  store_->count(results);
  done(std::move(results));
}

}  // namespace davit::secret_store

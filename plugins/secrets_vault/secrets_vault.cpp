// The plugin: it reads its settings, and makes a Resolution of each call.
#include "davit/plugin.hpp"
#include "resolution.hpp"

namespace davit::secrets_vault {
namespace {

class SecretsVault {
 public:
  using roles = Roles<secrets::Role>;
  // Calls of the Vault at once. Each has a connection.
  static constexpr uint32_t max_concurrency = 4, pool_threads_min = 1, pool_threads_max = 64;

  explicit SecretsVault(Host host)
      : host_(host), vault_(std::make_shared<Vault>(host, VaultSettings::read(host))) {}

  Result<> check(const Op&) { return vault_->check(); }

  Result<> start(const Op&) {
    if (auto r = vault_->check(); !r.ok()) return r;
    const auto& url = vault_->settings().target.url;
    const std::string doubt = http::doubt(url);
    if (!doubt.empty()) host_.warn("the vault is asked without TLS", {{"reason", doubt}});
    host_.info("secrets are decrypted by", {{"vault", url.host}});
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

  Result<> stop(const Op& op) {
    operations_.cancel();
    auto r = open_.wait(host_, op);
    vault_->forget_all();
    return r;
  }

  void resolve(const Op& op, std::vector<secrets::Item> items, secrets::Done done) {
    if (items.empty()) return done({});
    auto ticket = ticket_for_one_more();
    if (ticket == nullptr) return refuse(items, done);
    std::make_shared<Resolution>(host_, vault_, op, operations_.begin(op.deadline_ns()),
                                 std::move(done), std::move(ticket))
        ->start(std::move(items));
  }

 private:
  // NULL: as many calls are open as may be.
  Outstanding::Ticket ticket_for_one_more() {
    if (open_calls_->fetch_add(1) >= vault_->settings().open_calls_max) {
      open_calls_->fetch_sub(1);
      return nullptr;
    }
    // The pointer is only there to be no NULL.
    return {open_calls_.get(), [open = open_calls_, ticket = open_.begin()](void*) mutable {
              open->fetch_sub(1);
              ticket.reset();
            }};
  }

  void refuse(const std::vector<secrets::Item>& items, const secrets::Done& done) const {
    secrets::Results results;
    for (const auto& item : items) {
      results.push_back(Error{Code::resource_exhausted,
                              "too many calls wait for the vault (open_calls_max)", item.keyring});
    }
    vault_->count(results);
    done(std::move(results));
  }

  const Host host_;
  const std::shared_ptr<Vault> vault_;
  const Operations operations_;
  Outstanding open_;
  const std::shared_ptr<std::atomic<size_t>> open_calls_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace
}  // namespace davit::secrets_vault

DAVIT_PLUGIN(davit::secrets_vault::SecretsVault, "secrets_vault", DAVIT_PLUGIN_VERSION,
             "decrypts secrets by a Vault that speaks vault.v1")

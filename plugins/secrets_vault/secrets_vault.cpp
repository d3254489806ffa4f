// The plugin: it reads its settings, and asks Krane's Vault.
#include "davit/plugin.hpp"
#include "secret_store/backend.hpp"
#include "vault.hpp"

namespace davit::secrets_vault {
namespace {

std::shared_ptr<secret_store::Store> make_store(const Host& host) {
  const Settings settings(host);
  auto common = secret_store::StoreSettings::read(settings, "davit/" DAVIT_PLUGIN_VERSION);
  auto vault = std::make_unique<Vault>(host, common, secret_store::read_token_file(settings));
  return std::make_shared<secret_store::Store>(host, std::move(common), std::move(vault));
}

class SecretsVault {
 public:
  using roles = Roles<secrets::Role>;
  // Calls of the Vault at once. Each has a connection.
  static constexpr uint32_t max_concurrency = 4, pool_threads_min = 1, pool_threads_max = 64;

  explicit SecretsVault(Host host) : backend_(host, make_store(host)) {}

  Result<> check(const Op&) { return backend_.store().check(); }
  Result<> start(const Op&) { return backend_.start(); }
  Result<> stop(const Op& op) { return backend_.stop(op); }
  void resolve(const Op& op, std::vector<secrets::Item> items, secrets::Done done) {
    backend_.resolve(op, std::move(items), std::move(done));
  }

 private:
  secret_store::Backend backend_;
};

}  // namespace
}  // namespace davit::secrets_vault

DAVIT_PLUGIN(davit::secrets_vault::SecretsVault, "secrets_vault", DAVIT_PLUGIN_VERSION,
             "decrypts secrets by a Vault that speaks vault.v1")

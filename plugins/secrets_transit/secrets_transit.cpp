// The plugin: it reads its settings, and asks a HashiCorp Vault or an OpenBao.
#include "davit/plugin.hpp"
#include "secret_store/backend.hpp"
#include "transit.hpp"

namespace davit::secrets_transit {
namespace {

class SecretsTransit {
 public:
  using roles = Roles<secrets::Role>;
  // Calls of the Vault at once. Each has a connection.
  static constexpr uint32_t max_concurrency = 4, pool_threads_min = 1, pool_threads_max = 64;

  explicit SecretsTransit(Host host) : SecretsTransit(host, Settings(host)) {}

  Result<> check(const Op&) { return backend_.store().check(); }
  Result<> start(const Op&) { return backend_.start(); }
  Result<> stop(const Op& op) {
    auto r = backend_.stop(op);
    auto ended = session_->end(op);
    return r.ok() ? ended : r;
  }
  void resolve(const Op& op, std::vector<secrets::Item> items, secrets::Done done) {
    backend_.resolve(op, std::move(items), std::move(done));
  }

 private:
  SecretsTransit(Host host, const Settings& settings)
      : SecretsTransit(host,
                       secret_store::StoreSettings::read(settings, "davit/" DAVIT_PLUGIN_VERSION),
                       TransitSettings::read(settings)) {}
  SecretsTransit(Host host, secret_store::StoreSettings common, TransitSettings own)
      : SecretsTransit(host, common, std::make_unique<Transit>(host, std::move(own), common)) {}
  SecretsTransit(Host host, const secret_store::StoreSettings& common,
                 std::unique_ptr<Transit> transit)
      : session_(transit->session()),
        backend_(host, std::make_shared<secret_store::Store>(host, common, std::move(transit))) {}

  const std::shared_ptr<Session> session_;
  secret_store::Backend backend_;
};

}  // namespace
}  // namespace davit::secrets_transit

DAVIT_PLUGIN(davit::secrets_transit::SecretsTransit, "secrets_transit", DAVIT_PLUGIN_VERSION,
             "decrypts and reads secrets by HashiCorp Vault or OpenBao")

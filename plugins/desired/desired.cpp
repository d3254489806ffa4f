// The plugin: the operator's API. README.md lists the settings.
#include "shared.hpp"

namespace davit::desired {

class Desired {
 public:
  using roles = Roles<>;

  explicit Desired(Host host) : host_(host) { storage_name_ = Settings(host).string("storage"); }

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_name_);
    if (!storage.ok()) return storage.error();
    auto kinds = Kinds::find(host_);
    if (!kinds.ok()) return kinds.error();
    shared_ = std::make_unique<Shared>(host_, *storage, std::move(*kinds));
    const rpc::Server server(host_);
    auto served = serve_changes(*shared_, server);
    if (served.ok()) served = serve_reads(*shared_, server);
    if (served.ok()) served = serve_status(*shared_, server);
    return served;
  }

  Result<> start(const Op&) {
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) { return shared_->outstanding.wait(host_, op); }

 private:
  Host host_;
  std::string storage_name_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace davit::desired

DAVIT_PLUGIN(davit::desired::Desired, "desired", DAVIT_PLUGIN_VERSION,
             "the operator's API: apply, delete, get, list and status of desired state")

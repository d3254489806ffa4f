// The plugin `desired`: the operator's API, and the role records for controllers. README.md lists
// the settings.
#include "controllers.hpp"

namespace davit::desired {

class Desired {
 public:
  using roles = Roles<records::Role>;

  explicit Desired(Host host) : host_(host) {
    constexpr int64_t years_ms = 10LL * 366 * 86'400'000;
    const Settings settings(host);
    storage_name_ = settings.string("storage");
    PurgeLimits& limits = maintenance_.limits;
    maintenance_.interval = settings.milliseconds("purge_interval_ms", maintenance_.interval);
    limits.retention = settings.milliseconds("purge_retention_ms", limits.retention, 0, years_ms);
    limits.agent_live = settings.milliseconds("agent_live_ms", limits.agent_live, 0, years_ms);
    limits.agent_hold = settings.milliseconds("agent_hold_max_ms", limits.agent_hold, 0, years_ms);
    maintenance_.agent_retention =
        settings.milliseconds("agent_retention_ms", maintenance_.agent_retention, 0, years_ms);
  }

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_name_);
    if (!storage.ok()) return storage.error();
    auto kinds = Kinds::find(host_);
    if (!kinds.ok()) return kinds.error();
    shared_ = std::make_unique<Shared>(host_, *storage, storage::Election::of(host_, storage_name_),
                                       std::move(*kinds), maintenance_);
    controllers_ = std::make_unique<Controllers>(*shared_);
    shared_->delayed = DelaysClient(host_);
    if (auto copies = storage::Copies::find(host_, storage_name_); copies.ok())
      shared_->copies = *copies;
    const rpc::Server server(host_, shared_->operations);
    auto served = serve_changes(*shared_, server);
    if (served.ok()) served = serve_reads(*shared_, server);
    if (served.ok()) served = serve_status(*shared_, server);
    if (served.ok()) served = serve_maintain(*shared_, server);
    if (served.ok()) served = serve_agents(*shared_, server);
    if (served.ok()) served = serve_copies(*shared_, server);
    if (served.ok()) served = serve_kinds(*shared_, server);
    return served;
  }

  Result<> start(const Op&) {
    shared_->store_watcher.start();
    shared_->maintenance.start();
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) {
    shared_->operations.cancel();  // first: what is interrupted from now on ends for this reason
    shared_->stopping = true;
    shared_->store_watcher.stop();
    shared_->maintenance.stop();
    return shared_->outstanding.wait(host_, op);
  }

  // --- role records ---
  void apply(const Op& op, records::Apply request, records::ApplyDone done) {
    controllers_->apply(op, std::move(request), std::move(done));
  }
  void get(const Op& op, Query query, records::Done done) {
    controllers_->get(op, std::move(query), std::move(done));
  }
  void list(const Op& op, records::Read read, records::Done done) {
    controllers_->list(op, std::move(read), std::move(done));
  }
  Result<records::WatchHandle*> watch(const records::Read& read, uint32_t credit,
                                      records::Watcher watcher) {
    return controllers_->watch(read, credit, std::move(watcher));
  }
  void credit(records::WatchHandle* watch, uint32_t more) { controllers_->credit(watch, more); }
  void cancel(records::WatchHandle* watch) { controllers_->cancel(watch); }

 private:
  Host host_;
  std::string storage_name_;
  MaintenanceSettings maintenance_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace davit::desired

DAVIT_PLUGIN(
    davit::desired::Desired, "desired", DAVIT_PLUGIN_VERSION,
    "the operator's API: apply, delete, get, list and status of desired state; purges tombstones")

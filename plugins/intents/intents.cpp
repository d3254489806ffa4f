// The plugin: it finds its neighbours, listens to the store's hints, and leaves the work to a
// Carrier.
#include "carrier.hpp"

namespace davit::intents {
namespace {

class Intents {
 public:
  using roles = Roles<>;

  explicit Intents(Host host) : host_(host) {
    const Settings s(host);
    storage_ = s.string("storage");
    records_ = s.optional_string("records");
    interval_ = s.milliseconds("interval_ms", interval_, 100, 3'600'000);
  }

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_);
    if (!storage.ok()) return storage.error();
    auto intents = storage::Intents::find(host_, storage_);
    if (!intents.ok()) {
      return Error{intents.error().code,
                   "storage \"" + storage_ + "\" keeps no intents: storage_postgres does",
                   "storage"};
    }
    auto records = records::Client::find(host_, records_, "records");
    if (!records.ok()) return records.error();
    client_ = *storage;
    carrier_.emplace(
        host_,
        Neighbours{*storage, *intents, storage::Election::of(host_, storage_), std::move(*records)},
        interval_);
    return {};
  }

  Result<> start(const Op&) {
    auto watch = client_.watch(&hinted, &*carrier_);
    if (!watch.ok()) return watch.error();
    watch_ = std::move(*watch);
    carrier_->start();
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

  Result<> stop(const Op& op) {
    watch_.end();
    carrier_->stop();
    return carrier_->outstanding().wait(host_, op);
  }

 private:
  static void hinted(void* carrier, uint32_t what) {
    if ((what & (DAVIT_HINT_INTENTS | DAVIT_HINT_LEADER)) != 0)
      static_cast<Carrier*>(carrier)->wake();
  }

  const Host host_;
  std::string storage_;
  std::optional<std::string> records_;
  std::chrono::milliseconds interval_{5'000};
  storage::Client client_;
  std::optional<Carrier> carrier_;
  storage::Watch watch_;
};

}  // namespace
}  // namespace davit::intents

DAVIT_PLUGIN(davit::intents::Intents, "intents", DAVIT_PLUGIN_VERSION,
             "carries out what other programs have written into the store's table of intents")

// A plugin for the torture: purges tombstones in the running server far more often than any
// operator would, and without regard for who has not read them yet.
//
//   storage = "main"     the instance to purge
//   interval_ms = 200
//   versions_kept = 100  purges up to a random number of versions, this at most, below the head
#include <davit/outstanding.hpp>
#include <davit/plugin.hpp>
#include <davit/storage.hpp>

namespace davit::purger {

class Purger {
 public:
  using roles = Roles<>;

  explicit Purger(Host host) : host_(host), strand_(host.strand()), timer_(strand_) {
    const Settings settings(host);
    storage_name_ = settings.string("storage");
    interval_ = settings.milliseconds("interval_ms", interval_, 1);
    kept_max_ = static_cast<uint64_t>(settings.integer("versions_kept", 100, 0, 1'000'000));
  }

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_name_);
    if (!storage.ok()) return storage.error();
    storage_ = std::move(*storage);
    return {};
  }
  Result<> start(const Op&) {
    strand_.post([this, ticket = outstanding_.begin()] { sleep(); });
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) {
    strand_.post([this, ticket = outstanding_.begin()] {
      ended_ = true;
      timer_.cancel();
    });
    return outstanding_.wait(host_, op);
  }

 private:
  void sleep() {
    if (!ended_) timer_.after(interval_, [this] { purge(); });
  }
  void purge() {
    const uint64_t kept = host_.random() % (kept_max_ + 1);
    auto work = [kept](const storage::Client& storage) -> Result<> {
      auto head = storage.head();
      if (!head.ok()) return head.error();
      if (head->head.version.value() <= kept) return {};
      return storage.maintain({true, head->head.version - kept});
    };
    storage_->run(strand_, work, [this, ticket = outstanding_.begin()](Result<> purged) {
      if (!purged.ok()) host_.warn("not purged", {{"reason", purged.error().message}});
      sleep();
    });
  }

  Host host_;
  std::string storage_name_;
  std::chrono::milliseconds interval_{200};
  uint64_t kept_max_ = 0;
  std::optional<storage::Client> storage_;
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
  Outstanding outstanding_;
};

}  // namespace davit::purger

DAVIT_PLUGIN(davit::purger::Purger, "torture_purger", DAVIT_PLUGIN_VERSION,
             "purges tombstones without mercy, for tests")

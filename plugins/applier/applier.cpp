// The plugin: it reads the settings, finds its neighbours, and hands every call to the Hub.
#include <condition_variable>

#include <davit/rights.hpp>

#include "hub.hpp"

namespace davit::applier {
namespace {

class Applier {
 public:
  using roles = Roles<sink::ChangeRole, RightsRole>;

  explicit Applier(Host host) : host_(host) {
    Settings settings(host);
    cluster_ = settings.string("cluster");
    status_ = settings.string("status", "");
    secrets_ = settings.string("secrets", "");
    rules_ = read_rules(settings);
  }

  Result<> wire() {
    auto cluster = cluster::Client::find(host_, cluster_);
    if (!cluster.ok()) return cluster.error();
    std::optional<sink::StatusClient> status;
    if (!status_.empty()) {
      auto found = sink::StatusClient::find(host_, status_);
      if (!found.ok()) return found.error();
      status = *found;
    }
    std::optional<secrets::Client> secrets;
    if (!secrets_.empty()) {
      auto found = secrets::Client::find(host_, secrets_);
      if (!found.ok()) return found.error();
      secrets = *found;
    }
    hub_.emplace(host_, rules_, *cluster, std::move(secrets), std::move(status));
    return hub_->add_kinds(kind::Client::all(host_), kind::all_needs(host_));
  }

  std::string rights() const { return hub_->cluster_role(); }

  // Whether the account has the rights that the kinds need, and the cluster has what they need. The
  // cluster's own check says whether the API server can be reached.
  Result<> check(const Op& op) {
    const auto soon = host_.now() + rules_.request_timeout;
    return hub_->check_access(std::min(soon, std::chrono::nanoseconds(op.deadline_ns())));
  }

  Result<> start(const Op&) {
    hub_->start();
    return {};
  }

  Result<> stop(const Op& op) {
    hub_->stop([this] {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    const auto done = [this] { return stopped_; };
    if (op.deadline_ns() == INT64_MAX) {
      changed_.wait(lock, done);
      return {};
    }
    if (changed_.wait_for(lock, std::chrono::nanoseconds(op.deadline_ns()) - host_.now(), done))
      return {};
    return Error{Code::deadline_exceeded, "requests to the cluster or its watches did not end"};
  }

  Result<sink::Stream*> open(const std::string& kind, const std::string& region,
                             sink::Source source) {
    return hub_->open(kind, region, std::move(source));
  }
  void begin(sink::Stream* s, const sink::Begin& b) { hub_->begin(s, b); }
  bool offer(sink::Stream* s, sink::Change c) { return hub_->offer(s, std::move(c)); }
  void bookmark(sink::Stream* s, const sink::Bookmark& b) { hub_->bookmark(s, b); }
  void close(sink::Stream* s) { hub_->close(s); }

 private:
  Host host_;
  std::string cluster_, status_, secrets_;
  Rules rules_;
  std::optional<Hub> hub_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace
}  // namespace davit::applier

DAVIT_PLUGIN(davit::applier::Applier, "applier", DAVIT_PLUGIN_VERSION,
             "makes a cluster equal to desired state")

// A cluster in front of another one: it logs each write, and passes everything on.
#include <davit/cluster.hpp>
#include <davit/outstanding.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

namespace {

using davit::Op;
using davit::Result;
namespace cluster = davit::cluster;
using Done = std::function<void(cluster::Response)>;

class ClusterAudit {
 public:
  using roles = davit::Roles<cluster::Role>;

  explicit ClusterAudit(davit::Host host)
      : host_(host), next_name_(davit::Settings(host).string("next")) {}

  // The instance that is found here starts before this one and stops after it.
  Result<> wire() {
    auto found = cluster::Client::find(host_, next_name_);
    if (!found.ok()) return found.error();
    next_ = *found;
    return {};
  }

  // Its callers hear the end of all that they have begun.
  Result<> stop(const Op& op) {
    for (const auto& [id, watch] : watches()) watch.cancel();
    return open_.wait(host_, op);
  }

  void request(const Op& op, const cluster::Request& q, Done done) {
    if (q.verb == DAVIT_VERB_GET) return next_.under(op).request(q, counted(std::move(done)));
    const std::string object = q.resource.resource + " " + q.ns + "/" + q.name;
    next_.under(op).request(
        q,
        counted([host = host_, verb = q.verb, object, done = std::move(done)](cluster::Response r) {
          host.info(
              "a write",
              {{"verb", verb}, {"object", object}, {"http_status", std::to_string(r.http_status)}});
          done(std::move(r));
        }));
  }

  // A number stands for the watch, so that a cancel that comes too late finds nothing.
  cluster::WatchHandle* watch(const cluster::WatchRequest& q, uint32_t credit,
                              cluster::Watcher watcher) {
    const uintptr_t id = ++last_;
    watcher.ended = [this, id, ended = std::move(watcher.ended), ticket = open_.begin()] {
      {
        std::lock_guard lock(mutex_);
        watches_.erase(id);
      }
      ended();
    };
    auto begun = next_.watch(q, credit, std::move(watcher));
    if (!begun.ok()) throw std::runtime_error(begun.error().message);
    std::lock_guard lock(mutex_);
    watches_.emplace(id, *begun);
    return reinterpret_cast<cluster::WatchHandle*>(id);
  }
  void credit(cluster::WatchHandle* handle, uint32_t more) {
    if (const auto watch = find(handle)) watch->credit(more);
  }
  void cancel(cluster::WatchHandle* handle) {
    if (const auto watch = find(handle)) watch->cancel();
  }

  void discover(const Op& op, const std::string& group, const std::string& version,
                const std::string& kind, Done done) {
    next_.under(op).discover(group, version, kind, counted(std::move(done)));
  }
  void identity(const Op& op, Done done) { next_.under(op).identity(counted(std::move(done))); }

 private:
  // `stop` waits for the answer.
  Done counted(Done done) {
    return [ticket = open_.begin(), done = std::move(done)](cluster::Response r) {
      done(std::move(r));
    };
  }
  // Copies: no lock is held while the next cluster is called.
  std::map<uintptr_t, cluster::Watch> watches() {
    std::lock_guard lock(mutex_);
    return watches_;
  }
  std::optional<cluster::Watch> find(cluster::WatchHandle* handle) {
    std::lock_guard lock(mutex_);
    const auto it = watches_.find(reinterpret_cast<uintptr_t>(handle));
    return it == watches_.end() ? std::nullopt : std::optional(it->second);
  }

  davit::Host host_;
  std::string next_name_;
  cluster::Client next_;
  std::atomic<uintptr_t> last_{0};
  std::mutex mutex_;
  std::map<uintptr_t, cluster::Watch> watches_;  // under mutex_
  davit::Outstanding open_;
};

}  // namespace

DAVIT_PLUGIN(ClusterAudit, "cluster_audit", DAVIT_PLUGIN_VERSION,
             "logs the writes to another cluster")

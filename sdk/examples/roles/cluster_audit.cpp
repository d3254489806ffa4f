// A cluster in front of another one: it logs each write, and passes everything on.
#include <davit/cluster.hpp>

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

  void request(const Op& op, const cluster::Request& q, Done done) const {
    if (q.verb == DAVIT_VERB_GET) return next_.under(op).request(q, std::move(done));
    const std::string object = q.resource.resource + " " + q.ns + "/" + q.name;
    next_.under(op).request(
        q, [host = host_, verb = q.verb, object, done = std::move(done)](cluster::Response r) {
          host.info(
              "a write",
              {{"verb", verb}, {"object", object}, {"http_status", std::to_string(r.http_status)}});
          done(std::move(r));
        });
  }

  // The handle lives until `ended`, which comes after its holder has cancelled.
  cluster::WatchHandle* watch(const cluster::WatchRequest& q, uint32_t credit,
                              cluster::Watcher watcher) const {
    auto handle = std::make_unique<Passed>();
    watcher.ended = [handle = handle.get(), ended = std::move(watcher.ended)] {
      const std::unique_ptr<Passed> last(handle);
      ended();
    };
    auto begun = next_.watch(q, credit, std::move(watcher));
    if (!begun.ok()) throw std::runtime_error(begun.error().message);
    handle->watch = *begun;
    return handle.release();
  }
  void credit(cluster::WatchHandle* handle, uint32_t more) const {
    static_cast<Passed*>(handle)->watch.credit(more);
  }
  void cancel(cluster::WatchHandle* handle) const {
    const cluster::Watch watch = static_cast<Passed*>(handle)->watch;  // outlives the handle
    watch.cancel();
  }

  void discover(const Op& op, const std::string& group, const std::string& version,
                const std::string& kind, Done done) const {
    next_.under(op).discover(group, version, kind, std::move(done));
  }
  void identity(const Op& op, Done done) const { next_.under(op).identity(std::move(done)); }

 private:
  struct Passed : cluster::WatchHandle {
    cluster::Watch watch;
  };

  davit::Host host_;
  std::string next_name_;
  cluster::Client next_;
};

}  // namespace

DAVIT_PLUGIN(ClusterAudit, "cluster_audit", DAVIT_PLUGIN_VERSION,
             "logs the writes to another cluster")

// The plugin: one strand owns the store, the controllers and the watches. All calls are posted to
// it.
#include <atomic>
#include <future>
#include <map>

#include "api.hpp"
#include "deployments.hpp"
#include "replica_sets.hpp"
#include "watch.hpp"

namespace davit::cluster_memory {
namespace {

using Done = std::function<void(cluster::Response)>;

cluster::Response unavailable(Code code, std::string message) {
  cluster::Response r;
  r.code = code;
  r.message = std::move(message);
  return r;
}

// Everything that belongs to the strand.
class Cluster : public std::enable_shared_from_this<Cluster> {
 public:
  Cluster(const Host& host, int64_t pod_ready_ms, size_t watch_queue_max)
      : host_(host),
        watch_queue_max_(watch_queue_max),
        strand_(host.strand()),
        timer_(strand_),
        store_([host] { return host.random(); }),
        api_(store_, host.unix_ms()),
        deployments_(store_),
        replica_sets_(store_, pod_ready_ms) {}

  // Runs `task` on the strand, and keeps this object alive until then. [any]
  template <class Task>
  void post(Task task) {
    strand_.post([self = shared_from_this(), task = std::move(task)]() mutable { task(*self); });
  }

  void request(const Op& op, const cluster::Request& q, const Done& done) {
    if (const auto refused = refusal(op)) return done(*refused);
    const auto response = api_.handle(q, host_.unix_ms());
    done(response);
    settle();
  }
  void discover(const Op& op, const std::string& group, const std::string& version,
                const std::string& kind, const Done& done) {
    const auto refused = refusal(op);
    done(refused ? *refused : api_.discover(group, version, kind));
  }
  void identity(const Op& op, const Done& done) {
    const auto refused = refusal(op);
    done(refused ? *refused : api_.identity());
  }

  void watch(uintptr_t id, const cluster::WatchRequest& request, uint32_t credit,
             cluster::Watcher watcher) {
    if (stopped_) {
      if (watcher.ended) watcher.ended();
      return;
    }
    auto made = Watch::make(request, credit, watch_queue_max_);
    Entry entry{{}, std::move(watcher)};
    if (made.ok()) {
      entry.watch = std::move(*made);
      entry.watch->begin(store_);
    } else if (credit > 0) {
      // It can never work. It reports that once, and ends when it is cancelled like any other.
      entry.watcher.event(DAVIT_WATCH_TROUBLE, made.error().message);
    }
    watches_.emplace(id, std::move(entry));
    deliver();
  }
  void credit(uintptr_t id, uint32_t more) {
    auto it = watches_.find(id);
    if (it == watches_.end() || !it->second.watch) return;
    it->second.watch->grant(more);
    deliver();
  }
  void cancel(uintptr_t id) {
    auto it = watches_.find(id);
    if (it == watches_.end()) return;
    const cluster::Watcher watcher = std::move(it->second.watcher);
    watches_.erase(it);
    if (watcher.ended) watcher.ended();
  }
  void stop() {
    stopped_ = true;
    timer_.cancel();
    for (auto& [id, entry] : std::exchange(watches_, {})) {
      if (entry.watcher.ended) entry.watcher.ended();
    }
  }

 private:
  struct Entry {
    std::optional<Watch> watch;
    cluster::Watcher watcher;
  };

  // A request takes no time once its turn has come, so its caller gives up before it or not at all.
  std::optional<cluster::Response> refusal(const Op& op) const {
    if (stopped_) return unavailable(Code::unavailable, "the cluster is being stopped");
    const auto why = given_up(op, host_.now());
    if (!why) return std::nullopt;
    return unavailable(why->code, why->message + " before the request began");
  }

  // Passes events to the controllers and the watches until no new events arise.
  void settle() {
    std::optional<int64_t> due;
    do {
      for (const Event& event : store_.take_events()) {
        deployments_.observe(event);
        replica_sets_.observe(event, host_.unix_ms());
        for (auto& [id, entry] : watches_) {
          if (entry.watch) entry.watch->offer(event);
        }
      }
      const uint64_t before = store_.version();
      store_.collect_garbage(host_.unix_ms());
      deployments_.run(host_.unix_ms());
      due = replica_sets_.run(host_.unix_ms());
      if (store_.version() == before) break;
    } while (true);
    deliver();
    if (!due) return timer_.cancel();
    const int64_t wait = std::max<int64_t>(*due - host_.unix_ms(), 0);
    timer_.after(std::chrono::milliseconds(wait), [this] { settle(); });
  }

  // Callbacks that call the plugin post a task, so the table does not change during the loop.
  void deliver() {
    for (auto& [id, entry] : watches_) {
      while (entry.watch) {
        auto item = entry.watch->next(store_);
        if (!item) break;
        entry.watcher.event(item->type, item->object);
      }
    }
  }

  const Host host_;
  const size_t watch_queue_max_;
  Strand strand_;
  Timer timer_;
  Store store_;
  Api api_;
  Deployments deployments_;
  ReplicaSets replica_sets_;
  std::map<uintptr_t, Entry> watches_;
  bool stopped_ = false;
};

// A watch is identified by a number. The handle is never dereferenced, so a late cancel finds
// nothing and does no harm.
uintptr_t id_of(cluster::WatchHandle* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

class ClusterMemory {
 public:
  using roles = Roles<cluster::Role>;

  explicit ClusterMemory(Host host) : host_(host) {
    const Settings settings(host);
    const auto pod_ready = settings.milliseconds("pod_ready_ms", std::chrono::milliseconds(500));
    const auto queue = settings.integer("watch_queue_max", 10'000, 1, 10'000'000);
    requests_max_ = settings.integer("requests_max", 10'000, 1, 10'000'000);
    cluster_ = std::make_shared<Cluster>(host, pod_ready.count(), static_cast<size_t>(queue));
  }

  Result<> stop(const Op& op) {
    auto stopped = std::make_shared<std::promise<void>>();
    auto done = stopped->get_future();
    cluster_->post([stopped](Cluster& c) {
      c.stop();
      stopped->set_value();
    });
    const auto left = op.deadline_ns() == INT64_MAX
                          ? std::chrono::nanoseconds(std::chrono::seconds(10))
                          : std::chrono::nanoseconds(op.deadline_ns()) - host_.now();
    if (done.wait_for(left) == std::future_status::ready) return {};
    return Error{Code::deadline_exceeded, "its strand did not come to an end in time"};
  }

  void request(const Op& op, cluster::Request q, Done done) {
    // Others ask before anything runs, and are answered at once: it knows no restriction.
    if (q.verb == "namespaces") {
      cluster::Response unknown;
      unknown.code = Code::invalid_argument;
      unknown.message = "the verb \"namespaces\" is unknown";
      return done(unknown);
    }
    if (waiting_->fetch_add(1) >= requests_max_) {
      waiting_->fetch_sub(1);
      auto busy =
          unavailable(Code::resource_exhausted, "too many requests are waiting (requests_max)");
      busy.http_status = 429;
      busy.reason = "TooManyRequests";
      return done(std::move(busy));
    }
    cluster_->post([op, q = std::move(q), done = std::move(done), waiting = waiting_](Cluster& c) {
      waiting->fetch_sub(1);
      c.request(op, q, done);
    });
  }
  cluster::WatchHandle* watch(cluster::WatchRequest q, uint32_t credit, cluster::Watcher watcher) {
    const uintptr_t id = next_watch_.fetch_add(1);
    cluster_->post([=](Cluster& c) { c.watch(id, q, credit, watcher); });
    return reinterpret_cast<cluster::WatchHandle*>(id);
  }
  void credit(cluster::WatchHandle* handle, uint32_t more) {
    cluster_->post([id = id_of(handle), more](Cluster& c) { c.credit(id, more); });
  }
  void cancel(cluster::WatchHandle* handle) {
    cluster_->post([id = id_of(handle)](Cluster& c) { c.cancel(id); });
  }
  void discover(const Op& op, std::string group, std::string version, std::string kind, Done done) {
    cluster_->post([=](Cluster& c) { c.discover(op, group, version, kind, done); });
  }
  void identity(const Op& op, Done done) {
    cluster_->post([=](Cluster& c) { c.identity(op, done); });
  }

 private:
  Host host_;
  int64_t requests_max_ = 0;
  std::shared_ptr<std::atomic<int64_t>> waiting_ = std::make_shared<std::atomic<int64_t>>(0);
  std::atomic<uintptr_t> next_watch_{1};
  std::shared_ptr<Cluster> cluster_;
};

}  // namespace
}  // namespace davit::cluster_memory

DAVIT_PLUGIN(davit::cluster_memory::ClusterMemory, "cluster_memory", DAVIT_PLUGIN_VERSION,
             "a simulated Kubernetes API in memory, for tests and the demo")

// The plugin: it reads its settings, creates the engine, and runs it on the instance's pool.
#include <cstdlib>
#include <filesystem>
#include <future>

#include "engine.hpp"
#include "kubeconfig.hpp"

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::milliseconds;

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

// Selects the way to an API server from the settings and the environment.
Result<Access> find_access(const Host& host, std::string kubeconfig, const std::string& context,
                           bool in_cluster) {
  const ReadFile read = [host](const std::string& path) { return host.credential(path); };
  if (kubeconfig.empty() && !in_cluster) {
    kubeconfig = environment("KUBECONFIG");
    if (kubeconfig.find(':') != std::string::npos) {
      return Error{Code::invalid_argument,
                   "$KUBECONFIG names several files (" + kubeconfig + "): set `kubeconfig` to one"};
    }
    // In the configuration a relative path is relative to its file, in the environment to the
    // working directory.
    if (!kubeconfig.empty()) {
      std::error_code error;
      const auto whole = std::filesystem::absolute(kubeconfig, error);
      if (error) {
        return Error{Code::failed_precondition,
                     "$KUBECONFIG is relative (" + kubeconfig + "), and the working directory " +
                         "cannot be found (" + error.message() + "): set it to an absolute path"};
      }
      kubeconfig = whole.string();
    }
  }
  if (in_cluster || (kubeconfig.empty() && !environment("KUBERNETES_SERVICE_HOST").empty())) {
    return in_cluster_access(environment, read);
  }
  if (kubeconfig.empty()) kubeconfig = environment("HOME") + "/.kube/config";
  auto file = read(kubeconfig);
  if (!file.ok()) return file.error().in("kubeconfig \"" + kubeconfig + "\"");
  return read_kubeconfig(std::string(file->view()), kubeconfig, context, read);
}

class ClusterKubernetes {
 public:
  using roles = Roles<cluster::Role>;
  static constexpr uint32_t max_concurrency = 2;  // the engine, and stop() beside it

  explicit ClusterKubernetes(Host host) : host_(host) {
    const Settings s(host);
    const std::string kubeconfig = s.string("kubeconfig", "");
    const std::string context = s.string("context", "");
    const bool in_cluster = s.boolean("in_cluster", false);
    if (in_cluster && !kubeconfig.empty())
      s.reject("in_cluster", "cannot be true beside `kubeconfig`");
    if (in_cluster && !context.empty()) s.reject("in_cluster", "cannot be true beside `context`");
    Engine::Options o;
    o.requests.connections_max = static_cast<size_t>(s.integer("connections_max", 64, 1, 1'000));
    o.requests_max = static_cast<size_t>(s.integer("requests_max", 10'000, 1, 10'000'000));
    o.requests.timeout = s.milliseconds("request_timeout_ms", o.requests.timeout, 1);
    o.transport.connect_timeout =
        s.milliseconds("connect_timeout_ms", o.transport.connect_timeout, 1);
    o.transport.response_bytes_max =
        bytes_setting(s, "response_bytes_max", o.transport.response_bytes_max);
    o.transport.stream_idle_timeout =
        s.milliseconds("watch_idle_timeout_ms", o.transport.stream_idle_timeout, 1'000);
    o.transport.connections_kept = 2 * o.requests.connections_max;
    o.watch.streaming_lists = s.boolean("streaming_lists", true);
    o.watch.event_bytes_max = bytes_setting(s, "event_bytes_max", o.watch.event_bytes_max);
    o.watch.backoff.most = s.milliseconds("backoff_max_ms", o.watch.backoff.most, 100);
    o.watch_buffer_bytes = bytes_setting(s, "watch_buffer_bytes", o.watch_buffer_bytes);
    auto access = find_access(host, kubeconfig, context, in_cluster);
    if (!access.ok()) {
      Error e = access.error();
      e.where = !kubeconfig.empty() ? "kubeconfig" : !context.empty() ? "context" : "";
      throw Failure(e);
    }
    source_ = access->source;
    engine_ = std::make_unique<Engine>(
        host, std::move(*access),
        [=] { return find_access(host, kubeconfig, context, in_cluster); }, o);
  }

  // Asks for /version, so that a wrong address, certificate or token shows before the start.
  Result<> check(const Op& op) {
    checking_ = true;
    std::optional<cluster::Response> answered;
    engine_->version(op, [&](cluster::Response answer) { answered = std::move(answer); });
    engine_->run_until([&] { return answered.has_value(); });
    const cluster::Response& r = *answered;
    if (r.code == Code::ok) return {};
    return Error{r.code, source_ + ": " + r.message};
  }

  Result<> start(const Op&) {
    ended_ = ending_.get_future();
    running_ = true;
    host_.health(DAVIT_HEALTH_SERVING);
    host_.blocking({}, [this] {
      engine_->run();
      ending_.set_value();
    });
    host_.info("the Kubernetes API is reached through", {{"source", source_}});
    return {};
  }

  Result<> stop(const Op& op) {
    engine_->stop();
    if (!running_ || ended_.wait_for(time_left(op)) == std::future_status::ready) return {};
    return Error{Code::deadline_exceeded,
                 "a callback of a request or a watch did not return in time"};
  }

  void request(const Op& op, cluster::Request q, Engine::Done done) {
    if (!checking_) return engine_->request(op, std::move(q), std::move(done));
    // The engine does not run yet, so a request from another plugin's check is answered before this
    // returns.
    bool answered = false;
    engine_->request(op, std::move(q), [&answered, &done](cluster::Response r) {
      done(std::move(r));
      answered = true;
    });
    engine_->run_until([&answered] { return answered; });
  }
  cluster::WatchHandle* watch(cluster::WatchRequest q, uint32_t credit, cluster::Watcher watcher) {
    // The handle is a number and is never dereferenced, so a late cancel finds nothing and does no
    // harm.
    return reinterpret_cast<cluster::WatchHandle*>(
        engine_->watch(std::move(q), credit, std::move(watcher)));
  }
  void credit(cluster::WatchHandle* h, uint32_t more) {
    engine_->credit(reinterpret_cast<uintptr_t>(h), more);
  }
  void cancel(cluster::WatchHandle* h) { engine_->cancel(reinterpret_cast<uintptr_t>(h)); }
  void discover(const Op& op, std::string group, std::string version, std::string kind,
                Engine::Done done) {
    engine_->discover(op, std::move(group), std::move(version), std::move(kind), std::move(done));
  }
  void identity(const Op& op, Engine::Done done) { engine_->identity(op, std::move(done)); }

 private:
  static size_t bytes_setting(const Settings& s, std::string_view key, size_t fallback) {
    return static_cast<size_t>(
        s.integer(key, static_cast<int64_t>(fallback), 1'024, int64_t{1} << 32));
  }
  std::chrono::nanoseconds time_left(const Op& op) const {
    static constexpr std::chrono::seconds unless_stated{10};
    if (op.deadline_ns() == INT64_MAX) return unless_stated;
    return std::chrono::nanoseconds(op.deadline_ns()) - host_.now();
  }

  Host host_;
  std::string source_;
  std::unique_ptr<Engine> engine_;
  std::promise<void> ending_;
  std::future<void> ended_;
  bool checking_ = false;  // in `davit check`: the engine is not started
  bool running_ = false;
};

}  // namespace
}  // namespace davit::cluster_kubernetes

DAVIT_PLUGIN(davit::cluster_kubernetes::ClusterKubernetes, "cluster_kubernetes",
             DAVIT_PLUGIN_VERSION,
             "a Kubernetes API server, through a kubeconfig or from within the cluster")

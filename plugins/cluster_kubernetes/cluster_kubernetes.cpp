// The plugin: it reads its settings, creates the engine, and runs it on the instance's pool.
#include <algorithm>
#include <cstdlib>
#include <future>

#include <davit/kubernetes/names.hpp>

#include "engine.hpp"
#include "find_access.hpp"
#include "impersonation.hpp"
#include "proxy.hpp"
#include "server_url.hpp"

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::milliseconds;

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

class ClusterKubernetes {
 public:
  using roles = Roles<cluster::Role>;
  static constexpr uint32_t max_concurrency = 2;  // the engine, and stop() beside it

  explicit ClusterKubernetes(Host host) : host_(host) {
    const Settings s(host);
    const AccessSettings where = access_settings(s);
    auto token = read_token_source(s);
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
    o.credentials.exec_timeout = s.milliseconds("exec_timeout_ms", o.credentials.exec_timeout, 1);
    o.requests_per_second = s.integer("requests_per_second", 0, 0, 1'000'000);
    o.requests_burst = s.integer("requests_burst", o.requests_burst, 1, 1'000'000);
    o.namespaces = namespaces_setting(s);
    o.watch.timeout = o.requests.timeout;
    o.watch.flow.streaming_lists = s.boolean("streaming_lists", true);
    o.watch.flow.event_bytes_max =
        bytes_setting(s, "event_bytes_max", o.watch.flow.event_bytes_max);
    o.watch.flow.backoff.most = s.milliseconds("backoff_max_ms", o.watch.flow.backoff.most, 100);
    o.watch.buffer_bytes = bytes_setting(s, "watch_buffer_bytes", o.watch.buffer_bytes);
    o.transport.compress = s.boolean("compression", true);
    if (!where.server.empty() && !token)
      s.reject("server", "needs the table `token`: without a kubeconfig there are no credentials");
    if (token) url_doubt_ = token->url_doubt;
    if (token) o.credentials.token = std::make_shared<TokenMaker>(host, std::move(*token));
    const auto read = [=] {
      return find_access(where, environment,
                         [host](const std::string& path) { return host.credential(path); });
    };
    auto access = read();
    if (!access.ok()) {
      Error e = access.error();
      e.where = !where.kubeconfig.empty() ? "kubeconfig" : !where.context.empty() ? "context" : "";
      throw Failure(e);
    }
    source_ = access->source;
    if (o.credentials.token) token_ = usable(*o.credentials.token);
    engine_ = std::make_unique<Engine>(host, std::move(*access), read, o);
  }

  // Asks for /version, so that a wrong address, certificate or token shows before the start.
  Result<> check(const Op& op) {
    checking_ = true;
    std::optional<cluster::Response> answered;
    engine_->version(op, [&](cluster::Response answer) { answered = std::move(answer); });
    engine_->run_until([&] { return answered.has_value(); });
    const cluster::Response& r = *answered;
    if (r.code == Code::ok) return {};
    const std::string& refused = engine_->unauthorized();
    return Error{r.code, source_ + ": " + (refused.empty() ? r.message : refused)};
  }

  Result<> start(const Op&) {
    ended_ = ending_.get_future();
    running_ = true;
    host_.health(DAVIT_HEALTH_SERVING);
    host_.blocking({}, [this] {
      engine_->run();
      ending_.set_value();
    });
    if (!url_doubt_.empty())
      host_.warn("the token server is asked without TLS", {{"reason", url_doubt_}});
    host_.info("the Kubernetes API is reached through", {{"source", source_}, {"token", token_}});
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
  static AccessSettings access_settings(const Settings& s) {
    AccessSettings out;
    out.kubeconfig = s.string("kubeconfig", "");
    out.context = s.string("context", "");
    out.in_cluster = s.boolean("in_cluster", false);
    if (out.in_cluster && !out.kubeconfig.empty())
      s.reject("in_cluster", "cannot be true beside `kubeconfig`");
    if (out.in_cluster && !out.context.empty())
      s.reject("in_cluster", "cannot be true beside `context`");
    read_server(s, out);
    out.token_is_made = s.has("token");
    out.proxy = s.string("proxy", "");
    if (auto fault = proxy_fault(out.proxy)) s.reject("proxy", *fault);
    out.as.user = s.string("impersonate_user", "");
    out.as.uid = s.string("impersonate_uid", "");
    out.as.groups = s.strings("impersonate_groups");
    out.as.extra = s.table("impersonate_extra").entries();
    if (auto fault = impersonation_fault(out.as)) s.reject("impersonate_user", *fault);
    return out;
  }
  // Who asks whom, when all files are there.
  static std::string usable(const TokenMaker& token) {
    if (auto files = token.check(); !files.ok()) throw Failure(files.error().in("token"));
    return token.shown();
  }
  static void read_server(const Settings& s, AccessSettings& out) {
    out.server = server_url(s.string("server", ""));
    out.certificate_authority_file = s.string("certificate_authority_file", "");
    out.tls_server_name = s.string("tls_server_name", "");
    if (out.server.empty()) {
      for (const char* key : {"certificate_authority_file", "tls_server_name"})
        if (!s.string(key, "").empty()) s.reject(key, "belongs to `server`, which is not set");
      return;
    }
    if (!is_server_url(out.server)) s.reject("server", "is not a http or https URL");
    if (out.in_cluster || !out.kubeconfig.empty() || !out.context.empty())
      s.reject("server", "cannot be set beside `kubeconfig`, `context` or `in_cluster`");
  }
  static std::vector<std::string> namespaces_setting(const Settings& s) {
    auto out = s.strings("namespaces");
    for (auto it = out.begin(); it != out.end(); ++it) {
      if (auto fault = kubernetes::dns_label_fault(*it)) s.reject("namespaces", *fault);
      if (std::find(out.begin(), it, *it) != it)
        s.reject("namespaces", "names \"" + *it + "\" twice");
    }
    return out;
  }
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
  std::string source_, url_doubt_;
  std::string token_ = "that of the source";
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

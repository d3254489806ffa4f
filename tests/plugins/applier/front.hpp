// The simulated cluster as the applier reaches it: every request is counted, and may be refused as
// an overloaded API server does, or an admission policy; its watches may show nothing, or fail.
#pragma once

#include <davit/cluster.hpp>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace davit::applier::test {

class Front {
 public:
  explicit Front(cluster::Client behind) : behind_(std::move(behind)) {}

  // What a policy or the authorizer answers instead; nothing: the request passes.
  using Policy = std::function<std::optional<cluster::Response>(const cluster::Request&)>;

  size_t requests = 0;
  std::map<std::string, size_t> sent;  // by "verb resource"
  Policy policy;
  std::chrono::milliseconds retry_after{0};  // not 0: nothing gets through
  bool blind = false;                        // watches that begin now show nothing

  // What began blind shows what there is.
  void see() {
    blind = false;
    for (auto& w : watches_) {
      if (w->withheld > 0) w->watch.credit(std::exchange(w->withheld, 0));
    }
  }

  // All watches say that they fail.
  void trouble() {
    for (auto& w : watches_) w->event(DAVIT_WATCH_TROUBLE, "the resource is not there");
  }

  // --- role cluster
  void request(const cluster::Request& q, std::function<void(cluster::Response)> done) {
    ++requests;
    ++sent[q.verb + " " + q.resource.resource];
    if (policy) {
      if (auto refused = policy(q)) return done(*std::move(refused));
    }
    if (retry_after.count() == 0) return behind_.request(q, std::move(done));
    cluster::Response busy;
    busy.code = Code::resource_exhausted;
    busy.http_status = 429;
    busy.retry_after = retry_after;
    busy.reason = "TooManyRequests";
    done(std::move(busy));
  }
  cluster::WatchHandle* watch(const cluster::WatchRequest& q, uint32_t credit,
                              cluster::Watcher watcher) {
    watches_.push_back(std::make_unique<Handle>());
    watches_.back()->event = watcher.event;
    watches_.back()->watch = behind_.watch(q, blind ? 0 : credit, std::move(watcher));
    watches_.back()->withheld = blind ? credit : 0;
    return watches_.back().get();
  }
  void credit(cluster::WatchHandle* h, uint32_t more) {
    static_cast<Handle*>(h)->watch.credit(more);
  }
  void cancel(cluster::WatchHandle* h) { static_cast<Handle*>(h)->watch.cancel(); }
  void discover(const std::string& group, const std::string& version, const std::string& kind,
                std::function<void(cluster::Response)> done) {
    behind_.discover(group, version, kind, std::move(done));
  }
  void identity(std::function<void(cluster::Response)> done) { behind_.identity(std::move(done)); }

 private:
  struct Handle : cluster::WatchHandle {
    cluster::Watch watch;
    std::function<void(int32_t, std::string_view)> event;
    uint32_t withheld = 0;
  };
  const cluster::Client behind_;
  std::vector<std::unique_ptr<Handle>> watches_;
};

// A refusal as an API server gives it: `causes` is the JSON of the Status' details.causes.
inline cluster::Response refusal(int32_t http, const std::string& reason,
                                 const std::string& message, const std::string& causes = "[]") {
  cluster::Response r;
  r.code = http == 403 ? Code::permission_denied : Code::invalid_argument;
  r.http_status = http;
  r.reason = reason;
  r.message = message;
  r.body = R"({"kind":"Status","apiVersion":"v1","details":{"causes":)" + causes + "}}";
  return r;
}

}  // namespace davit::applier::test

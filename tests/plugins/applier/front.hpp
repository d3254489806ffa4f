// The simulated cluster as the applier reaches it: every request is counted, and may be refused as
// an overloaded API server does, or an admission policy; its watches may show nothing, fail, be cut
// or be refused; rights may be missing. Questions about rights and about what the cluster has are
// answered here and not counted.
#pragma once

#include <davit/cluster.hpp>
#include <davit/operation.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "../fakes/held_requests.hpp"

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
  std::set<std::string> denied;              // rights that are missing: "list pods"
  std::set<std::string> absent;              // what the cluster lacks: "runtimeclasses"
  size_t reviews = 0;
  bool hold = false;                                   // requests wait for release()
  std::function<bool(const cluster::Request&)> hangs;  // the same, of some

  void release() {
    hold = false;
    hangs = nullptr;
    held_.release([this](const Op& op, const cluster::Request& q, auto done) {
      request(op, q, std::move(done));
    });
  }
  // Answers the held requests whose callers have given up.
  void let_go() { held_.let_go(); }

  // How many events the watches asked for that began blind.
  std::set<uint32_t> withheld() const {
    std::set<uint32_t> out;
    for (const auto& w : watches_) {
      if (!w->cancelled) out.insert(w->withheld);
    }
    return out;
  }
  // What began blind shows what there is.
  void see() {
    blind = false;
    for (auto& w : watches_) {
      if (w->withheld > 0) credit(w.get(), std::exchange(w->withheld, 0));
    }
  }
  // The watches of a resource say this (DAVIT_WATCH_TROUBLE or _REFUSED) and show nothing, those
  // that begin from now on as well.
  void stop_showing(const std::string& resource, int32_t type, const std::string& why) {
    stopped_[resource] = {type, why};
    for (auto& w : watches_) {
      if (w->request.resource.resource == resource) silence(*w);
    }
  }
  // They begin anew.
  void show(const std::string& resource) {
    stopped_.erase(resource);
    for (auto& w : watches_) {
      if (w->request.resource.resource == resource && !w->cancelled) open(*w);
    }
  }
  // As from the API server: an event of a watch that is silent.
  void say(const std::string& resource, int32_t type, const std::string& object) {
    for (auto& w : watches_) {
      if (w->request.resource.resource == resource && !w->cancelled) deliver(*w, type, object);
    }
  }

  // All watches say that they fail.
  void trouble() {
    for (auto& w : watches_) deliver(*w, DAVIT_WATCH_TROUBLE, "the resource is not there");
  }

  std::optional<cluster::Client> same_as;           // the cluster that it says it is
  std::optional<cluster::Response> hides_identity;  // what it answers instead

  // Resources of which the cluster does not understand a watch, as one of an earlier minor might.
  std::set<std::string> not_understood;

  // --- role cluster
  static const davit_cluster* table() {
    static const auto* right = static_cast<const davit_cluster*>(cluster::Role::vtable<Front>());
    static const davit_cluster own = [] {
      davit_cluster t = *right;
      t.watch = [](davit_instance* i, const davit_cluster_watch_request* r, uint32_t credit,
                   const davit_cluster_watcher* w, void* self, davit_cluster_watch** out,
                   davit_error* e) {
        if (davit::detail::object<Front>(i).not_understood.contains(text(r->resource.resource)))
          return fill(e, {Code::unimplemented, "flags has bit 20"});
        return right->watch(i, r, credit, w, self, out, e);
      };
      return t;
    }();
    return &own;
  }
  void request(const Op& op, const cluster::Request& q,
               std::function<void(cluster::Response)> done) {
    if (q.verb == "namespaces") {
      cluster::Response r;
      r.code = Code::invalid_argument;  // as of a cluster that knows no restriction
      return done(r);
    }
    if (q.resource.resource == "selfsubjectaccessreviews") return review(q, done);
    if (q.resource.resource == "runtimeclasses" || q.query == Pairs{{"limit", "1"}})
      return done(look(q));
    ++requests;
    ++sent[q.verb + " " + q.resource.resource];
    if (hold || (hangs && hangs(q))) {
      return held_.hold(op, q, std::move(done));
    }
    if (policy) {
      if (auto refused = policy(q)) return done(*std::move(refused));
    }
    if (retry_after.count() == 0) return behind_.under(op).request(q, std::move(done));
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
    Handle& h = *watches_.back();
    h.request = q;
    h.watcher = std::move(watcher);
    h.credit = blind ? 0 : credit;
    h.withheld = blind ? credit : 0;
    if (stopped_.contains(q.resource.resource)) {
      silence(h);
    } else {
      open(h);
    }
    return &h;
  }
  void credit(cluster::WatchHandle* handle, uint32_t more) {
    Handle& h = *static_cast<Handle*>(handle);
    h.credit += more;
    if (h.open) h.watch.credit(more);
  }
  void cancel(cluster::WatchHandle* handle) {
    Handle& h = *static_cast<Handle*>(handle);
    h.cancelled = true;
    if (h.open) return h.watch.cancel();
    h.watcher.ended();
  }
  void discover(const Op& op, const std::string& group, const std::string& version,
                const std::string& kind, std::function<void(cluster::Response)> done) {
    behind_.under(op).discover(group, version, kind, std::move(done));
  }
  void identity(const Op& op, std::function<void(cluster::Response)> done) {
    if (hides_identity) return done(*hides_identity);
    (same_as ? *same_as : behind_).under(op).identity(std::move(done));
  }

 private:
  // Whether the cluster has it.
  cluster::Response look(const cluster::Request& q) const {
    cluster::Response r;
    if (!absent.contains(q.resource.resource)) return r;
    r.code = Code::not_found;
    r.http_status = 404;
    r.body = R"({"kind":"Status","details":{"name":")" + q.name + R"("}})";
    return r;
  }
  struct Handle : cluster::WatchHandle {
    cluster::WatchRequest request;
    cluster::Watcher watcher;
    cluster::Watch watch;
    uint32_t withheld = 0;
    uint32_t credit = 0;
    uint64_t generation = 0;  // what an older watch still shows is not passed on
    bool open = false, cancelled = false;
  };

  void open(Handle& h) {
    h.open = true;
    cluster::Watcher watcher;
    watcher.event = [&h, generation = ++h.generation](int32_t type, std::string_view object) {
      if (generation == h.generation) deliver(h, type, object);
    };
    watcher.ended = [&h, generation = h.generation] {
      if (generation == h.generation && h.cancelled) h.watcher.ended();
    };
    h.watch = *behind_.watch(h.request, h.credit, std::move(watcher));
  }
  void silence(Handle& h) {
    ++h.generation;
    if (std::exchange(h.open, false)) h.watch.cancel();
    const auto& [type, why] = stopped_.at(h.request.resource.resource);
    if (!h.cancelled) deliver(h, type, why);
  }
  static void deliver(Handle& h, int32_t type, std::string_view object) {
    if (h.credit > 0) --h.credit;
    h.watcher.event(type, object);
  }
  void review(const cluster::Request& q, const std::function<void(cluster::Response)>& done) {
    ++reviews;
    const auto member = [&q](const std::string& key) {
      const std::string start = "\"" + key + "\":\"";
      const size_t at = q.body.find(start);
      if (at == std::string::npos) return std::string();
      const size_t from = at + start.size();
      return q.body.substr(from, q.body.find('"', from) - from);
    };
    const bool no = denied.contains(member("verb") + " " + member("resource"));
    cluster::Response r;
    r.http_status = 201;
    r.body = std::string(R"({"status":{"allowed":)") + (no ? "false" : "true") + "}}";
    done(std::move(r));
  }

  const cluster::Client behind_;
  std::vector<std::unique_ptr<Handle>> watches_;
  std::map<std::string, std::pair<int32_t, std::string>> stopped_;
  testing::HeldRequests held_;  // until release(), or until their callers give up
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

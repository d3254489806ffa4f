// Role cluster in C++: requests to one Kubernetes API, and watches of it. A backend is one class,
// and cluster::Role makes its ABI table. cluster::Client calls a cluster instance. abi/cluster.h
// has the contract.
//
//   class Backend {
//    public:
//     using roles = davit::Roles<davit::cluster::Role>;
//     // op lives until `done` has been called. A request that is cancelled is answered soon.
//     void request(const Op&, cluster::Request, std::function<void(cluster::Response)> done);
//     cluster::WatchHandle* watch(cluster::WatchRequest, uint32_t credit, cluster::Watcher);
//     void credit(cluster::WatchHandle*, uint32_t more);
//     void cancel(cluster::WatchHandle*);
//     void discover(const Op&, std::string group, std::string version, std::string kind,
//                   std::function<void(cluster::Response)>);
//     void identity(const Op&, std::function<void(cluster::Response)>);
//   };
#pragma once

#include "flags.hpp"
#include "lookup.hpp"
#include "operation.hpp"
#include "plugin.hpp"

namespace davit::cluster {

struct Resource {
  std::string group, version, resource;
  auto operator<=>(const Resource&) const = default;
  bool operator==(const Resource&) const = default;
};

struct Request {
  std::string verb;  // DAVIT_VERB_...
  Resource resource;
  std::string ns, name, subresource;
  Pairs query, headers;
  std::string body;
  int64_t deadline_ns = INT64_MAX;  // the op's
};

struct Response {
  Code code = Code::ok;
  int32_t http_status = 0;
  std::chrono::milliseconds retry_after{0};
  std::string reason, message, body;
  Pairs headers;
};

struct WatchRequest {
  Resource resource;
  bool metadata_only = false;
  std::string ns, label_selector, field_selector, resource_version;
};

// The callbacks of a watch. Events of one watch are serialised, on any thread.
struct Watcher {
  std::function<void(int32_t type, std::string_view object)> event;  // DAVIT_WATCH_...
  std::function<void()> ended;
};

// The base of a backend's watch. A backend derives its own class from it, and the ABI passes a
// pointer to it as the handle.
struct WatchHandle {
  virtual ~WatchHandle() = default;
};

// A response in ABI form; borrows from the Response.
struct ResponseView {
  std::vector<davit_pair> headers;
  davit_cluster_response abi;
  explicit ResponseView(const Response& r) : headers(to_abi(r.headers)) {
    abi = {sizeof abi,    static_cast<int32_t>(r.code),
           r.http_status, static_cast<uint32_t>(r.retry_after.count()),
           str(r.reason), str(r.message),
           bytes(r.body), headers.data(),
           headers.size()};
  }
};

// The one answer to a request: `done` is called once, whatever the backend does. A later answer is
// ignored.
class Answer {
 public:
  Answer(davit_cluster_done done, void* ctx)
      : done_(done), ctx_(ctx), given_(std::make_shared<std::atomic<bool>>(false)) {}
  void operator()(const Response& r) const {
    const ResponseView v(r);
    if (!given_->exchange(true)) done_(ctx_, &v.abi);
  }
  // Runs the method that answers. An exception of it is the answer INTERNAL; when it comes after
  // the answer, it is reported on stderr.
  template <class Method>
  void by(const char* slot, Method&& method) const {
    must_not_throw(slot, [&] {
      try {
        method();
      } catch (const std::exception& e) {
        failed(slot, e.what());
      } catch (...) {
        failed(slot, "an exception of an unknown type");
      }
    });
  }

 private:
  void failed(const char* slot, const char* what) const {
    if (*given_) return report_exception(slot, what);
    Response r;
    r.code = Code::internal;
    r.message = std::string("exception in ") + slot + ": " + what;
    (*this)(r);
  }
  davit_cluster_done done_;
  void* ctx_;
  std::shared_ptr<std::atomic<bool>> given_;  // shared by the copies
};

struct Role {
  static constexpr std::string_view id = DAVIT_CLUSTER;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_cluster table = {
        sizeof(davit_cluster),
        0,
        [](davit_instance* i, const davit_op* op, const davit_cluster_request* r,
           davit_cluster_done done, void* ctx) {
          const Answer answer(done, ctx);
          answer.by("davit_cluster.request", [&] {
            Request q{
                text(r->verb),
                {text(r->resource.group), text(r->resource.version), text(r->resource.resource)},
                text(r->ns),
                text(r->name),
                text(r->subresource),
                from_abi(r->query, r->query_count),
                from_abi(r->headers, r->headers_count),
                std::string(view(r->body)),
                op->deadline_ns};
            object<T>(i).request(Op(op), std::move(q), answer);
          });
        },
        [](davit_instance* i, const davit_cluster_watch_request* r, uint32_t credit,
           const davit_cluster_watcher* w, void* self, davit_cluster_watch** out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*r); !known.ok()) return known;
            WatchRequest q{
                {text(r->resource.group), text(r->resource.version), text(r->resource.resource)},
                (r->flags & DAVIT_WATCH_METADATA_ONLY) != 0,
                text(r->ns),
                text(r->label_selector),
                text(r->field_selector),
                text(r->resource_version)};
            Watcher watcher{[event = w->event, self](int32_t type, std::string_view o) {
                              event(self, type, bytes(o));
                            },
                            [ended = w->ended, self] { ended(self); }};
            WatchHandle* h = object<T>(i).watch(std::move(q), credit, std::move(watcher));
            *out = reinterpret_cast<davit_cluster_watch*>(h);
            return {};
          });
        },
        [](davit_instance* i, davit_cluster_watch* w, uint32_t more) {
          must_not_throw("davit_cluster.credit",
                         [&] { object<T>(i).credit(reinterpret_cast<WatchHandle*>(w), more); });
        },
        [](davit_instance* i, davit_cluster_watch* w) {
          must_not_throw("davit_cluster.cancel",
                         [&] { object<T>(i).cancel(reinterpret_cast<WatchHandle*>(w)); });
        },
        [](davit_instance* i, const davit_op* op, davit_str group, davit_str version,
           davit_str kind, davit_cluster_done done, void* ctx) {
          const Answer answer(done, ctx);
          answer.by("davit_cluster.discover", [&] {
            object<T>(i).discover(Op(op), text(group), text(version), text(kind), answer);
          });
        },
        [](davit_instance* i, const davit_op* op, davit_cluster_done done, void* ctx) {
          const Answer answer(done, ctx);
          answer.by("davit_cluster.identity", [&] { object<T>(i).identity(Op(op), answer); });
        }};
    return &table;
  }
};

// The handle of one watch. Before its holder destroys anything that the callbacks use, it cancels
// the watch and waits for `ended`.
class Watch {
 public:
  Watch() = default;
  Watch(davit_ref ref, davit_cluster_watch* w) : ref_(ref), watch_(w) {}
  void credit(uint32_t more) const { table()->credit(ref_.self, watch_, more); }
  void cancel() const { table()->cancel(ref_.self, watch_); }

 private:
  const davit_cluster* table() const { return static_cast<const davit_cluster*>(ref_.vtable); }
  davit_ref ref_{};
  davit_cluster_watch* watch_ = nullptr;
};

// An op that is cancelled with another one, and has a deadline of its own.
class Narrowed {
 public:
  Narrowed(Op wide, int64_t deadline_ns) : wide_(wide) {
    abi_ = {sizeof abi_,
            0,
            std::min(deadline_ns, wide.deadline_ns()),
            [](const davit_op* op) { return of(op)->cancelled(of(op)); },
            str(wide.trace()),
            [](const davit_op* op, void (*fn)(void*), void* ctx) {
              return of(op)->on_cancel(of(op), fn, ctx);
            },
            [](const davit_op* op, davit_op_watch* watch) { of(op)->off_cancel(of(op), watch); }};
  }
  Narrowed(const Narrowed&) = delete;
  Narrowed& operator=(const Narrowed&) = delete;
  const davit_op* abi() const { return &abi_; }

 private:
  static const davit_op* of(const davit_op* op) {
    return reinterpret_cast<const Narrowed*>(op)->wide_.abi();
  }
  davit_op abi_{};  // first: the slots get a pointer to it
  const Op wide_;
};

// Calls a cluster instance.
class Client {
 public:
  Client() = default;
  explicit Client(davit_ref ref) : ref_(ref) {}
  static Result<Client> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_CLUSTER);
    if (!ref.ok()) return ref.error();
    return Client(*ref);
  }

  // The same client, whose requests end with this op. Without one nobody cancels them. What is no
  // Operation outlives the answers.
  Client under(CallerOp op) const {
    Client out = *this;
    out.op_ = std::move(op);
    return out;
  }

  // `done` runs once, on any thread, perhaps before this returns. The request's deadline and the
  // operation's hold, whichever is earlier.
  void request(const Request& q, std::function<void(Response)> done) const {
    request(q, q.body, std::move(done));
  }
  // With another body than the request's, such as one in memory that is wiped. Borrowed for the
  // call.
  void request(const Request& q, std::string_view body, std::function<void(Response)> done) const {
    const auto query = to_abi(q.query);
    const auto headers = to_abi(q.headers);
    const davit_cluster_request r = {
        sizeof r,
        static_cast<uint32_t>(query.size()),
        str(q.verb),
        {str(q.resource.group), str(q.resource.version), str(q.resource.resource)},
        str(q.ns),
        str(q.name),
        str(q.subresource),
        query.data(),
        headers.data(),
        headers.size(),
        bytes(body)};
    auto* call = new Call(*this, q.deadline_ns, std::move(done));
    table()->request(ref_.self, call->op.abi(), &r, &answered, call);
  }
  // An error: the cluster does not understand the request, and the watcher is not called.
  Result<Watch> watch(const WatchRequest& q, uint32_t credit, Watcher watcher) const {
    const davit_cluster_watch_request r = {
        sizeof r,
        q.metadata_only ? DAVIT_WATCH_METADATA_ONLY : 0,
        {str(q.resource.group), str(q.resource.version), str(q.resource.resource)},
        str(q.ns),
        str(q.label_selector),
        str(q.field_selector),
        str(q.resource_version)};
    static const davit_cluster_watcher callbacks = {
        sizeof callbacks, 0,
        [](void* self, int32_t type, davit_bytes o) {
          must_not_throw("davit_cluster_watcher.event",
                         [&] { static_cast<Watcher*>(self)->event(type, view(o)); });
        },
        [](void* self) {
          must_not_throw("davit_cluster_watcher.ended", [&] {
            std::unique_ptr<Watcher> w(static_cast<Watcher*>(self));
            if (w->ended) w->ended();
          });
        }};
    auto* self = new Watcher(std::move(watcher));  // its `ended` deletes it
    davit_cluster_watch* out = nullptr;
    auto begun = checked([&](davit_error* e) {
      return table()->watch(ref_.self, &r, credit, &callbacks, self, &out, e);
    });
    if (begun.ok()) return Watch(ref_, out);
    delete self;
    return begun.error();
  }
  void discover(std::string_view group, std::string_view version, std::string_view kind,
                std::function<void(Response)> done) const {
    auto* call = new Call(*this, INT64_MAX, std::move(done));
    table()->discover(ref_.self, call->op.abi(), str(group), str(version), str(kind), &answered,
                      call);
  }
  void identity(std::function<void(Response)> done) const {
    auto* call = new Call(*this, INT64_MAX, std::move(done));
    table()->identity(ref_.self, call->op.abi(), &answered, call);
  }

 private:
  // Lives until the answer.
  struct Call {
    Call(const Client& client, int64_t deadline_ns, std::function<void(Response)> d)
        : whole(client.op_), op(whole, deadline_ns), done(std::move(d)) {}
    const CallerOp whole;  // what op borrows from
    const Narrowed op;
    const std::function<void(Response)> done;
  };
  static void answered(void* ctx, const davit_cluster_response* r) {
    must_not_throw("the answer to a request of davit_cluster", [&] {
      const std::unique_ptr<const Call> call(static_cast<const Call*>(ctx));
      call->done(Response{static_cast<Code>(r->code), r->http_status,
                          std::chrono::milliseconds(r->retry_after_ms), text(r->reason),
                          text(r->message), std::string(view(r->body)),
                          from_abi(r->headers, r->headers_count)});
    });
  }
  const davit_cluster* table() const { return static_cast<const davit_cluster*>(ref_.vtable); }
  davit_ref ref_{};
  CallerOp op_;
};

}  // namespace davit::cluster

// RPC as bytes, in C++: rpc::Server serves methods, rpc::Channel calls them. abi/rpc.h has the
// contract.
//
// A call on either end is a Call handle and a Handler, from which the plugin derives its own class.
// Every callback runs on the strand that was given with the handler. Server::unary() and
// Channel::unary() make the common call one function.
#pragma once

#include <algorithm>

#include "lookup.hpp"
#include "operation.hpp"
#include "plugin.hpp"

namespace davit::rpc {

// A detail of an error besides its message.
struct Detail {
  std::string type, value;  // full message name, encoded message
};

// How a call ended.
struct End {
  Code code = Code::ok;
  std::string message;
  Pairs trailers = {};
  std::vector<Detail> details = {};
  static End of(const Error& e) {
    return {e.code, e.where.empty() ? e.message : e.where + ": " + e.message};
  }
};

struct Identity {
  std::string name, role;
  std::vector<std::string> regions;
};

// A call's handle. It is cheap to copy, and valid until on_done returns.
class Call {
 public:
  Call() = default;
  Call(const davit_rpc* rpc, davit_rpc_call* call) : rpc_(rpc), call_(call) {}
  explicit operator bool() const { return call_ != nullptr; }
  void read() const { rpc_->read(call_); }
  void write(const Buffer& message) const {
    davit_buf* part = message.get();
    rpc_->write(call_, &part, 1);
  }
  void write(std::string message) const { write(Buffer::of(std::move(message))); }
  void write(const std::vector<Buffer>& parts) const {
    std::vector<davit_buf*> raw;
    for (const auto& p : parts) raw.push_back(p.get());
    rpc_->write(call_, raw.data(), raw.size());
  }

  // Serving end. What was cancelled because the plugin stops ends as UNAVAILABLE: its caller waits.
  void finish(End end) const {
    if (end.code == Code::cancelled && operations_.cancelled()) end = End::of(shutting_down());
    const auto trailers = to_abi(end.trailers);
    std::vector<davit_rpc_detail> details;
    for (const Detail& d : end.details) details.push_back({str(d.type), bytes(d.value)});
    const davit_rpc_end abi = {sizeof abi,       static_cast<int32_t>(end.code),
                               str(end.message), trailers.data(),
                               trailers.size(),  details.data(),
                               details.size()};
    rpc_->finish(call_, &abi);
  }
  // Adds headers to the answer. Before the first write, and before finish.
  void headers(const Pairs& headers) const {
    const auto pairs = to_abi(headers);
    rpc_->headers(call_, pairs.data(), pairs.size());
  }
  // On the host's monotonic clock. INT64_MAX: none.
  int64_t deadline_ns() const { return rpc_->deadline_ns(call_); }
  Identity identity() const {
    const davit_identity* i = rpc_->identity(call_);
    Identity out{text(i->name), text(i->role), {}};
    for (uint32_t n = 0; n < i->regions_count; ++n) out.regions.push_back(text(i->regions[n]));
    return out;
  }
  std::string metadata(std::string_view key) const { return text(rpc_->metadata(call_, str(key))); }
  std::string peer() const { return text(rpc_->peer(call_)); }
  // What is done for this call: it has the call's deadline, and is cancelled when the caller goes
  // away, when the deadline passes and when the call has ended. It outlives the call.
  const Operation& operation() const { return *operation_; }

  // Calling end.
  void half_close() const { rpc_->half_close(call_); }
  void cancel() const { rpc_->cancel(call_); }

 private:
  friend class Server;
  static Call served(const davit_rpc* rpc, davit_rpc_call* handle, const Operations& operations) {
    Call out(rpc, handle);
    out.operations_ = operations;
    out.operation_ =
        std::make_shared<const Operation>(out.deadline_ns(), out.metadata("traceparent"));
    operations.add(*out.operation_);
    return out;
  }
  const davit_rpc* rpc_ = nullptr;
  davit_rpc_call* call_ = nullptr;
  // Of a served call.
  std::shared_ptr<const Operation> operation_;
  Operations operations_;  // which the plugin's stop cancels
};

// Whether a credential with these regions names `region`. "*" names every region.
inline bool names_region(const std::vector<std::string>& regions, std::string_view region) {
  return std::any_of(regions.begin(), regions.end(),
                     [&](const std::string& r) { return r == region || r == "*"; });
}

// The region that a call is for: the header x-krane-region. INVALID_ARGUMENT when the header is
// missing, PERMISSION_DENIED when the caller's credential does not name the region.
inline Result<std::string> authorized_region(const Call& call) {
  std::string region = call.metadata("x-krane-region");
  if (region.empty()) return Error{Code::invalid_argument, "header X-Krane-Region is missing"};
  const Identity who = call.identity();
  if (names_region(who.regions, region)) return region;
  return Error{Code::permission_denied,
               "region \"" + region + "\" is not one that token \"" + who.name + "\" names"};
}

// The callbacks of one call, all on its strand. A handler that was passed to accept() or start() is
// deleted after on_done.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void on_message(Buffer) {}
  virtual void on_end_of_messages() {}  // the peer sends no more
  virtual void on_writable() {}
  virtual void on_cancel() {}
  virtual void on_done(const End&) {}
  virtual void on_headers(const Pairs&) {}  // calling end

  // Calls that nobody waits for any more end with the operation.
  void ends(Operation operation) { operation_ = std::move(operation); }

  static const davit_rpc_handler* table() {
    static const davit_rpc_handler t = {
        sizeof t,
        0,
        [](void* self, davit_buf* m) {
          must_not_throw("davit_rpc_handler.on_message", [&] {
            if (m != nullptr) {
              static_cast<Handler*>(self)->on_message(Buffer(m));
            } else {
              static_cast<Handler*>(self)->on_end_of_messages();
            }
          });
        },
        [](void* self) {
          must_not_throw("davit_rpc_handler.on_writable",
                         [&] { static_cast<Handler*>(self)->on_writable(); });
        },
        [](void* self) {
          must_not_throw("davit_rpc_handler.on_cancel", [&] {
            static_cast<Handler*>(self)->give_up();
            static_cast<Handler*>(self)->on_cancel();
          });
        },
        [](void* self, const davit_rpc_end* end) {
          must_not_throw("davit_rpc_handler.on_done", [&] {
            std::unique_ptr<Handler> owned(static_cast<Handler*>(self));
            owned->give_up();
            std::vector<Detail> details;
            for (size_t i = 0; i < end->details_count; ++i)
              details.push_back(
                  {text(end->details[i].type), std::string(view(end->details[i].value))});
            owned->on_done({static_cast<Code>(end->code), text(end->message),
                            from_abi(end->trailers, end->trailers_count), std::move(details)});
          });
        },
        [](void* self, const davit_pair* headers, size_t count) {
          must_not_throw("davit_rpc_handler.on_headers", [&] {
            static_cast<Handler*>(self)->on_headers(from_abi(headers, count));
          });
        }};
    return &t;
  }

 private:
  void give_up() const {
    if (operation_) operation_->cancel();
  }
  std::optional<Operation> operation_;
};

struct Method {
  std::string path, request_type, response_type;
  davit_bytes descriptor_set{};
  std::string role;  // "agent", "operator", or another word that methods ask for
  bool server_streams = false, client_streams = false;
  uint32_t request_bytes_max = 0;
};

// Serves methods. Register them only in wire().
class Server {
 public:
  // The operations of the served calls are also among `operations`.
  explicit Server(const Host& host, Operations operations = {})
      : host_(host), rpc_(host.service<davit_rpc>(DAVIT_RPC)), operations_(std::move(operations)) {}

  // `on_call` runs on any thread and answers with accept().
  Result<> serve(const Method& m, std::function<void(Call)> on_call) const {
    auto* held = new OnCall{rpc_, operations_, std::move(on_call)};
    const davit_rpc_method abi = {sizeof abi,
                                  (m.client_streams ? DAVIT_RPC_CLIENT_STREAMS : 0u) |
                                      (m.server_streams ? DAVIT_RPC_SERVER_STREAMS : 0u),
                                  str(m.path),
                                  str(m.request_type),
                                  str(m.response_type),
                                  m.descriptor_set,
                                  str(m.role),
                                  m.request_bytes_max,
                                  0,
                                  held,
                                  [](void* self, davit_rpc_call* call) {
                                    must_not_throw("davit_rpc_method.on_call", [&] {
                                      auto* o = static_cast<OnCall*>(self);
                                      o->f(Call::served(o->rpc, call, o->operations));
                                    });
                                  },
                                  [](void* self) {
                                    must_not_throw("davit_rpc_method.release",
                                                   [&] { delete static_cast<OnCall*>(self); });
                                  }};
    auto r = checked([&](davit_error* e) { return rpc_->serve(host_.abi(), &abi, e); });
    if (!r.ok()) delete held;
    return r;
  }
  // Whether a token of one of this host's servers admits agents of the region.
  bool knows_region(std::string_view region) const {
    return rpc_->region_known(host_.abi(), str(region)) != 0;
  }
  void accept(const Call& call, const Strand& strand, std::unique_ptr<Handler> handler) const {
    handler->ends(call.operation());
    rpc_->accept(call.call_, strand.get(), Handler::table(), handler.release());
  }

  // Serves a unary method. `work` gets the request on the call's own strand. It answers by calling
  // the reply once, from any thread.
  using Reply = std::function<void(Result<std::string>)>;
  Result<> unary(const Method& m, std::function<void(Call, Buffer, Reply)> work) const;

 private:
  struct OnCall {
    const davit_rpc* rpc;
    Operations operations;
    std::function<void(Call)> f;
  };
  Host host_;
  const davit_rpc* rpc_;
  Operations operations_;
};

namespace detail {
class Unary : public Handler {
 public:
  Unary(Call call, Strand strand, std::function<void(Call, Buffer, Server::Reply)> work)
      : call_(call),
        strand_(std::move(strand)),
        work_(std::move(work)),
        alive_(std::make_shared<bool>(true)) {}
  ~Unary() override { *alive_ = false; }
  void on_message(Buffer request) override {
    work_(call_, std::move(request),
          [call = call_, strand = strand_, alive = alive_](Result<std::string> r) {
            strand.post([call, alive, r = std::move(r)]() mutable {
              if (!*alive) return;
              if (r.ok()) {
                call.write(std::move(*r));
                call.finish({});
              } else {
                call.finish(End::of(r.error()));
              }
              *alive = false;
            });
          });
  }
  void on_end_of_messages() override {
    finish({Code::unimplemented, "the request message is missing"});
  }
  void on_cancel() override { finish({Code::cancelled, "the caller has gone"}); }

 private:
  void finish(const End& end) {
    if (!*alive_) return;
    *alive_ = false;
    call_.finish(end);
  }
  Call call_;
  Strand strand_;
  std::function<void(Call, Buffer, Server::Reply)> work_;
  std::shared_ptr<bool> alive_;  // false: finished, or the call is gone; only used on the strand
};
}  // namespace detail

inline Result<> Server::unary(const Method& m,
                              std::function<void(Call, Buffer, Reply)> work) const {
  return serve(m, [server = *this, work = std::move(work)](Call call) {
    Strand strand = server.host_.strand();
    server.accept(call, strand, std::make_unique<detail::Unary>(call, strand, work));
    call.read();
  });
}

// A named connection to a server. Find it only in wire().
class Channel {
 public:
  Channel() = default;
  static Result<Channel> find(const Host& host, std::string_view name) {
    const auto* rpc = host.service<davit_rpc>(DAVIT_RPC);
    davit_rpc_channel* out = nullptr;
    auto r = checked([&](davit_error* e) { return rpc->channel(host.abi(), str(name), &out, e); });
    if (!r.ok()) return r.error();
    return Channel(rpc, out);
  }
  std::string region() const { return text(rpc_->channel_region(channel_)); }
  std::string platform() const { return text(rpc_->channel_platform(channel_)); }
  std::string agent() const { return text(rpc_->channel_agent(channel_)); }
  std::string protocol() const { return text(rpc_->channel_protocol(channel_)); }

  // Starts a call, on the strand that it takes. Grant reads with Call::read. `streaming` is the
  // method's DAVIT_RPC_..._STREAMS.
  Call start(std::string_view path, const Strand& strand, std::unique_ptr<Handler> handler,
             const Pairs& metadata = {}, int64_t deadline_ns = INT64_MAX,
             uint32_t streaming = DAVIT_RPC_SERVER_STREAMS) const {
    const auto pairs = to_abi(metadata);
    const davit_rpc_start s = {sizeof s,
                               static_cast<uint32_t>(pairs.size()),
                               str(path),
                               pairs.data(),
                               deadline_ns,
                               streaming,
                               0};
    return {rpc_, rpc_->start(channel_, &s, strand.get(), Handler::table(), handler.release())};
  }
  // Makes a unary call, on the strand that it takes. `done` runs once, on the strand.
  void unary(std::string_view path, std::string request, const Strand& strand,
             std::function<void(Result<std::string>)> done, const Pairs& metadata = {},
             int64_t deadline_ns = INT64_MAX) const;

 private:
  Channel(const davit_rpc* rpc, davit_rpc_channel* c) : rpc_(rpc), channel_(c) {}
  const davit_rpc* rpc_ = nullptr;
  davit_rpc_channel* channel_ = nullptr;
};

namespace detail {
class UnaryCall : public Handler {
 public:
  explicit UnaryCall(std::function<void(Result<std::string>)> done) : done_(std::move(done)) {}
  Call call;
  // Reads on, because on_done comes after all messages. A second answer cancels the call, so that a
  // peer cannot keep it open.
  void on_message(Buffer m) override {
    if (answer_) {
      twice_ = true;
      return call.cancel();
    }
    answer_ = std::string(m.view());
    call.read();
  }
  void on_done(const End& end) override {
    if (twice_) {
      done_(Error{Code::unimplemented, "the peer sent more than one answer"});
    } else if (end.code == Code::ok && answer_) {
      done_(std::move(*answer_));
    } else if (end.code == Code::ok) {
      done_(Error{Code::unimplemented, "the peer sent no answer"});
    } else {
      done_(Error{end.code, end.message});
    }
  }

 private:
  std::function<void(Result<std::string>)> done_;
  std::optional<std::string> answer_;
  bool twice_ = false;
};
}  // namespace detail

inline void Channel::unary(std::string_view path, std::string request, const Strand& strand,
                           std::function<void(Result<std::string>)> done, const Pairs& metadata,
                           int64_t deadline_ns) const {
  auto handler = std::make_unique<detail::UnaryCall>(std::move(done));
  Call& call = handler->call;  // alive until on_done, which comes later on this strand
  call = start(path, strand, std::move(handler), metadata, deadline_ns, 0);
  call.write(std::move(request));
  call.half_close();
  call.read();
}

}  // namespace davit::rpc

// An RPC layer for tests: methods are served into a table, calls are made from the test and
// answered in memory, with the contract's rules (one write outstanding, on_done last, no
// on_writable after on_cancel). Add it to the TestHost of the plugin under test with
// host.add_service(DAVIT_RPC, fake.table()).
#pragma once

#include <algorithm>
#include <deque>
#include <map>

#include <davit/rpc.hpp>

// One call; the test keeps it (FakeRpc owns it).
struct davit_rpc_call {
  const davit_exec* exec = nullptr;
  std::string region, role = "agent", token = "token", peer = "test";
  std::vector<std::string> regions{"*"};
  std::map<std::string, std::string> headers;
  std::string request;
  int64_t deadline_ns = INT64_MAX;
  bool stalled = false;  // the peer does not read: no write is ever done

  // What came back.
  std::deque<std::string> messages;
  bool writing = false;
  bool cancelled = false;
  std::optional<davit::rpc::End> end;
  size_t ended_as = 0;  // 1: the first call that ended
  bool done = false;

  // The peer reads again.
  void resume() {
    stalled = false;
    if (writing) written();
  }
  void cancel() {
    cancelled = true;
    post([this] { handler->on_cancel(self); });
  }

  // --- the layer's side ---
  davit_strand* strand = nullptr;
  const davit_rpc_handler* handler = nullptr;
  void* self = nullptr;
  std::vector<davit_str> region_views;
  davit_identity identity{};

  void post(std::function<void()> task) const {
    exec->post(strand, &davit::Strand::run_once, new std::function<void()>(std::move(task)));
  }
  void written() {
    writing = false;
    if (end || cancelled) return;
    post([this] {
      if (!done) handler->on_writable(self);
    });
  }
};

namespace davit::testing {

class FakeRpc {
 public:
  explicit FakeRpc(const davit_exec* exec) : exec_(exec) { current() = this; }
  ~FakeRpc() {
    for (const auto& [path, method] : methods_) {
      if (method.release != nullptr) method.release(method.self);
    }
    current() = nullptr;
  }

  const davit_rpc* table() const {
    static const davit_rpc t = [] {
      davit_rpc served{};  // the calling end is not played
      served.struct_size = sizeof served;
      served.serve = &serve;
      served.accept = &accept;
      served.identity = &identity;
      served.metadata = &metadata;
      served.peer = &peer;
      served.region_known = [](const davit_host*, davit_str region) -> int32_t {
        return view(region) == "nowhere" ? 0 : 1;
      };
      served.finish = &finish;
      served.read = &read;
      served.write = &write;
      served.deadline_ns = [](const davit_rpc_call* c) { return c->deadline_ns; };
      return served;
    }();
    return &t;
  }

  bool serves(const std::string& path) const { return methods_.count(path) != 0; }
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const auto& [path, method] : methods_) out.push_back(path);
    return out;
  }

  std::string role_of(const std::string& path) const { return roles_.at(path); }
  uint32_t request_bytes_max_of(const std::string& path) const {
    return methods_.at(path).request_bytes_max;
  }

  // Starts a call; run the host to let it go on. `prepare` may set headers, identity and the like.
  davit_rpc_call& call(const std::string& path, std::string request,
                       const std::string& region = "eu",
                       const std::function<void(davit_rpc_call&)>& prepare = {}) {
    auto& c = *calls_.emplace_back(std::make_unique<davit_rpc_call>());
    c.exec = exec_;
    c.region = region;
    c.request = std::move(request);
    if (!region.empty()) c.headers["x-krane-region"] = region;
    if (prepare) prepare(c);
    for (const auto& r : c.regions) c.region_views.push_back(str(r));
    c.identity = {sizeof c.identity, static_cast<uint32_t>(c.region_views.size()), str(c.token),
                  str(c.role), c.region_views.data()};
    const auto& m = methods_.at(path);
    m.on_call(m.self, &c);
    return c;
  }

 private:
  // The slots carry no pointer to the layer; one exists at a time.
  static FakeRpc*& current() {
    static FakeRpc* rpc = nullptr;
    return rpc;
  }
  static int32_t serve(const davit_host*, const davit_rpc_method* m, davit_error*) {
    davit_rpc_method& served = current()->methods_[text(m->path)];  // an instance that is new
    if (served.release != nullptr) served.release(served.self);
    served = *m;
    current()->roles_[text(m->path)] = text(m->role);
    return DAVIT_OK;
  }
  static void accept(davit_rpc_call* c, davit_strand* strand, const davit_rpc_handler* handler,
                     void* self) {
    c->exec->strand_retain(strand);
    c->strand = strand;
    c->handler = handler;
    c->self = self;
  }
  static const davit_identity* identity(const davit_rpc_call* c) { return &c->identity; }
  static davit_str metadata(const davit_rpc_call* c, davit_str key) {
    auto it = c->headers.find(text(key));
    return it == c->headers.end() ? str("") : str(it->second);
  }
  static davit_str peer(const davit_rpc_call* c) { return str(c->peer); }
  static void read(davit_rpc_call* c) {
    c->post([c] {
      if (c->done) return;
      const Buffer message = Buffer::of(c->request);
      c->handler->on_message(c->self, message.get());
    });
  }
  static void write(davit_rpc_call* c, davit_buf* const* parts, size_t count) {
    if (c->writing || c->end) std::abort();  // against the contract
    std::string message;
    for (size_t i = 0; i < count; ++i) message += Buffer(parts[i]).view();
    c->messages.push_back(std::move(message));
    c->writing = true;
    if (!c->stalled) c->written();
  }
  static void finish(davit_rpc_call* c, const davit_rpc_end* end) {
    if (c->end) std::abort();
    c->end = rpc::End{static_cast<Code>(end->code), text(end->message),
                      from_abi(end->trailers, end->trailers_count)};
    c->ended_as = ++current()->ended_;
    c->post([c] {
      c->done = true;
      const davit_rpc_end abi = {
          sizeof abi, static_cast<int32_t>(c->end->code), str(c->end->message), nullptr, 0, nullptr,
          0};
      davit_strand* strand = c->strand;
      c->handler->on_done(c->self, &abi);
      c->exec->strand_release(strand);
    });
  }

  const davit_exec* exec_;
  std::map<std::string, davit_rpc_method> methods_;  // its texts are gone after serve
  std::map<std::string, std::string> roles_;         // by path
  std::deque<std::unique_ptr<davit_rpc_call>> calls_;
  size_t ended_ = 0;
};

}  // namespace davit::testing

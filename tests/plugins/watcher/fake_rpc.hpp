// The host's RPC layer, calling end only, with the test as the peer: it sees each call with what
// was written, and says what comes back and how the call ends. Keeps the contract: a message only
// comes when it was asked for, a write is done once there is a connection, all callbacks on the
// call's strand, on_done once and last.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <davit/rpc.hpp>
#include <davit/testing/host.hpp>

namespace davit::testing {

class FakeRpc {
 public:
  struct Call {
    std::string path, request;
    Pairs metadata;
    std::chrono::nanoseconds deadline{0};  // by the host's clock
    bool cancelled = false, ended = false;
    bool writing = false, half_closed = false;
    int reads = 0;  // granted and not used

   private:
    friend class FakeRpc;
    const davit_rpc_handler* handler = nullptr;
    void* self = nullptr;
    davit_strand* strand = nullptr;
    std::deque<Buffer> waiting;
  };

  FakeRpc(TestHost& host, std::string protocol) : host_(host), protocol_(std::move(protocol)) {
    current_ = this;
    host.add_service(DAVIT_RPC, table());
  }
  ~FakeRpc() { current_ = nullptr; }

  std::vector<std::unique_ptr<Call>> calls;
  // Whether calls get through. Otherwise they wait for a connection, and no write of them is done.
  bool reachable = true;
  // The newest call of a method that has not ended; NULL: there is none.
  Call* open(const std::string& method) {
    for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
      if (!(*it)->ended && (*it)->path.ends_with(method)) return it->get();
    }
    return nullptr;
  }

  // The connection for which the call has waited is there.
  void connect(Call& call) {
    written(call);
    host_.advance(std::chrono::nanoseconds(0));
  }
  void message(Call& call, std::string bytes) {
    call.waiting.push_back(Buffer::of(std::move(bytes)));
    deliver(call);
    host_.advance(std::chrono::nanoseconds(0));
  }
  void end(Call& call, Code code, const std::string& text = {}, const Pairs& trailers = {}) {
    if (call.ended) return;
    call.ended = true;
    post(call, [&call, code, text, trailers] {
      const auto abi = to_abi(trailers);
      const davit_rpc_end e = {
          sizeof e, static_cast<int32_t>(code), str(text), abi.data(), abi.size(), nullptr, 0};
      call.handler->on_done(call.self, &e);
    });
    host_.advance(std::chrono::nanoseconds(0));
  }
  // Answers a unary call.
  void answer(Call& call, std::string bytes) {
    message(call, std::move(bytes));
    end(call, Code::ok);
  }

 private:
  void post(Call& call, std::function<void()> f) {
    host_.host()
        .service<davit_exec>(DAVIT_EXEC)
        ->post(call.strand, &Strand::run_once, new std::function<void()>(std::move(f)));
  }
  void written(Call& call) {
    if (!std::exchange(call.writing, false) || call.ended) return;
    post(call, [&call] {
      if (!call.ended && !call.half_closed) call.handler->on_writable(call.self);
    });
  }
  void deliver(Call& call) {
    while (call.reads > 0 && !call.waiting.empty()) {
      --call.reads;
      post(call, [&call, m = std::move(call.waiting.front())] {
        call.handler->on_message(call.self, m.get());
      });
      call.waiting.pop_front();
    }
  }
  static Call& of(davit_rpc_call* c) { return *reinterpret_cast<Call*>(c); }

  static const davit_rpc* table() {
    static const davit_rpc rpc = [] {
      davit_rpc t{};
      t.struct_size = sizeof t;
      t.channel = [](const davit_host*, davit_str, davit_rpc_channel** out,
                     davit_error*) -> int32_t {
        static char channel;
        *out = reinterpret_cast<davit_rpc_channel*>(&channel);
        return DAVIT_OK;
      };
      t.channel_region = [](const davit_rpc_channel*) { return str("eu"); };
      t.channel_platform = [](const davit_rpc_channel*) { return str("aws"); };
      t.channel_agent = [](const davit_rpc_channel*) { return str("agent-1"); };
      t.channel_protocol = [](const davit_rpc_channel*) { return str(current_->protocol_); };
      t.start = [](davit_rpc_channel*, const davit_rpc_start* s, davit_strand* strand,
                   const davit_rpc_handler* handler, void* self) {
        auto call = std::make_unique<Call>();
        call->path = text(s->path);
        call->metadata = from_abi(s->metadata, s->metadata_count);
        call->deadline = std::chrono::nanoseconds(s->deadline_ns);
        call->handler = handler;
        call->self = self;
        call->strand = strand;
        current_->calls.push_back(std::move(call));
        return reinterpret_cast<davit_rpc_call*>(current_->calls.back().get());
      };
      t.half_close = [](davit_rpc_call* c) { of(c).half_closed = true; };
      t.cancel = [](davit_rpc_call* c) {
        of(c).cancelled = true;
        if (of(c).ended) return;
        of(c).ended = true;
        current_->post(of(c), [&call = of(c)] {
          const davit_rpc_end e = {sizeof e, DAVIT_CANCELLED, str("cancelled"), nullptr, 0, nullptr,
                                   0};
          call.handler->on_done(call.self, &e);
        });
      };
      t.read = [](davit_rpc_call* c) {
        ++of(c).reads;
        current_->deliver(of(c));
      };
      t.write = [](davit_rpc_call* c, davit_buf* const* parts, size_t count) {
        for (size_t i = 0; i < count; ++i) of(c).request += Buffer(parts[i]).view();
        of(c).writing = true;
        if (current_->reachable) current_->written(of(c));
      };
      return t;
    }();
    return &rpc;
  }

  static inline FakeRpc* current_ = nullptr;  // the ABI's channel carries no pointer of ours
  TestHost& host_;
  std::string protocol_;
};

}  // namespace davit::testing

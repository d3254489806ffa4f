// The slots of the C table that a call's or a channel's handle answers. Rpc fills in the others. An
// exception in one of them ends the process here, and not in frames of the plugin that called.
#include "call.hpp"
#include "rpc.hpp"

namespace davit::host {

namespace {

// A davit_rpc_channel is an RpcClient. Only rpc_channel makes one.
RpcClient& client_of(davit_rpc_channel* c) {
  return *reinterpret_cast<RpcClient*>(c);
}
const ClientSettings& settings_of(const davit_rpc_channel* c) {
  return reinterpret_cast<const RpcClient*>(c)->settings();
}

}  // namespace

davit_rpc call_slots() {
  davit_rpc t{};
  t.struct_size = sizeof t;
  t.accept = [](davit_rpc_call* c, davit_strand* s, const davit_rpc_handler* h,
                void* self) noexcept { c->accept(s, h, self); };
  t.identity = [](const davit_rpc_call* c) noexcept { return c->identity(); };
  t.metadata = [](const davit_rpc_call* c, davit_str key) noexcept { return c->metadata(key); };
  t.peer = [](const davit_rpc_call* c) noexcept { return c->peer(); };
  t.finish = [](davit_rpc_call* c, const davit_rpc_end* end) noexcept { c->finish(*end); };
  t.channel_region = [](const davit_rpc_channel* c) noexcept { return str(settings_of(c).region); };
  t.channel_platform = [](const davit_rpc_channel* c) noexcept {
    return str(settings_of(c).platform);
  };
  t.channel_agent = [](const davit_rpc_channel* c) noexcept { return str(settings_of(c).agent); };
  t.channel_protocol = [](const davit_rpc_channel* c) noexcept {
    return str(settings_of(c).protocol);
  };
  t.start = [](davit_rpc_channel* c, const davit_rpc_start* start, davit_strand* strand,
               const davit_rpc_handler* h,
               void* self) noexcept { return client_of(c).start(*start, strand, h, self); };
  t.half_close = [](davit_rpc_call* c) noexcept { c->half_close(); };
  t.cancel = [](davit_rpc_call* c) noexcept { c->cancel(); };
  t.read = [](davit_rpc_call* c) noexcept { c->read(); };
  t.write = [](davit_rpc_call* c, davit_buf* const* parts, size_t n) noexcept {
    c->write(parts, n);
  };
  t.headers = [](davit_rpc_call* c, const davit_pair* headers, size_t n) noexcept {
    c->headers(headers, n);
  };
  t.deadline_ns = [](const davit_rpc_call* c) noexcept { return c->deadline_ns(); };
  return t;
}

}  // namespace davit::host

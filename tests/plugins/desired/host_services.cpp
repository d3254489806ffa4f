// The services of the host that TestHost does not have, as a neighbour of the plugin under test in
// davit-conformance (suites/neighbours.hpp): the host's codec, and an RPC layer that serves methods
// and gets no calls.
#include <davit/plugin.hpp>

#include "codec/codec.hpp"
#include "fakes/fake_rpc.hpp"

namespace davit::testing {
namespace {

struct CodecService {
  static constexpr std::string_view id = DAVIT_CODEC;
  template <class T>
  static const void* vtable() {
    static const host::Codec codec;
    return codec.table();
  }
};
struct RpcService {
  static constexpr std::string_view id = DAVIT_RPC;
  template <class T>
  static const void* vtable() {
    return T::rpc_table();
  }
};

class HostServices {
 public:
  using roles = Roles<CodecService, RpcService>;
  explicit HostServices(Host host) : rpc_(host.service<davit_exec>(DAVIT_EXEC)) {
    table = rpc_.table();
  }
  static const davit_rpc* rpc_table() { return table; }

 private:
  static inline const davit_rpc* table = nullptr;  // the same one for each instance
  FakeRpc rpc_;
};

}  // namespace
}  // namespace davit::testing

DAVIT_PLUGIN(davit::testing::HostServices, "host_services", DAVIT_PLUGIN_VERSION,
             "a codec and an RPC layer for davit-conformance")

// An RPC method of a plugin's own: it answers with what it was sent. Any client of the listener
// that has a token of the role "operator" may call it, by gRPC, gRPC-Web or Connect.
#include <davit/rpc.hpp>

#include "echo_descriptors.h"

namespace {

class RpcEcho {
 public:
  using roles = davit::Roles<>;

  explicit RpcEcho(davit::Host host) : host_(host) {
    const davit::Settings settings(host);  // there are none, and a key is a typing error
  }

  // Methods are registered in wire, and only there. `operations` are the calls that are open.
  davit::Result<> wire() {
    const davit::rpc::Server server(host_, operations_);
    return server.unary(
        {.path = "acme.v1.EchoService/Echo",
         .request_type = "acme.v1.Text",
         .response_type = "acme.v1.Text",
         .descriptor_set = echo_descriptors(),
         .role = "operator"},
        [](const davit::rpc::Call&, const davit::Buffer& request,
           const davit::rpc::Server::Reply& reply) { reply(std::string(request.view())); });
  }
  davit::Result<> stop(const davit::Op&) {
    operations_.cancel();
    return {};
  }

 private:
  davit::Host host_;
  davit::Operations operations_;
};

}  // namespace

DAVIT_PLUGIN(RpcEcho, "rpc_echo", DAVIT_PLUGIN_VERSION, "answers with what it was sent")

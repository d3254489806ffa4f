// One [rpc.server.NAME]: a gRPC server that knows no message types. Every call passes the same
// gate: who is it, is there such a method, may this role call it.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <mutex>
#include <unordered_map>

#include "../admission.hpp"
#include "../peer_user.hpp"
#include "../server_certificate.hpp"
#include "../transport.hpp"
#include "../unix_listener.hpp"
#include "grpc_served_call.hpp"

namespace davit::host {

class GrpcServer final : public RpcServer, private grpc::CallbackGenericService {
 public:
  GrpcServer(const Core&, ServerSettings, const MethodRegistry&);
  ~GrpcServer() override;

  Result<> check() override;
  Result<> listen() override;
  std::string address() const override { return address_; }
  void look_after() override;
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override;
  Result<IdentityPtr> identify(const grpc::GenericCallbackServerContext&);

  Result<> listen_tcp();
  Result<> listen_unix();
  Result<> prepare();
  Error cannot_listen(const std::string& why) const;
  std::string name() const { return "rpc.server." + settings_.name; }
  void accepted(int fd);

  Log& log_;
  const ServerSettings settings_;
  const MethodRegistry& methods_;
  GrpcServing serving_;
  Admission admission_;
  ServerCertificate certificate_;  // with TLS
  std::string address_;
  bool stopped_ = false;

  // Unix socket
  PeerUsers users_;
  UnixListener listener_;
  mutable std::mutex peers_mutex_;
  std::unordered_map<std::string, IdentityPtr> peers_;  // by gRPC's name of a connection, "fd:12"

  std::unique_ptr<grpc::Server> server_;  // last: goes first
};

}  // namespace davit::host

// One [rpc.server.NAME]: a gRPC server that knows no message types. Every call passes the same
// gate: who is it, is there such a method, may this role call it.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <mutex>
#include <unordered_map>

#include "../front.hpp"
#include "../transport.hpp"
#include "grpc_served_call.hpp"
#include "handed_over.hpp"

namespace davit::host {

class GrpcServer final : public RpcServer, private grpc::CallbackGenericService {
 public:
  GrpcServer(const Core&, ServerSettings, const MethodRegistry&);
  ~GrpcServer() override;

  Result<> check() override;
  Result<> listen() override;
  std::string address() const override { return front_.address(); }
  std::vector<std::string> doubts() override { return front_.admission().doubts(); }
  void look_after() override;
  void read_files() override;
  Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings> tokens) override {
    return front_.admission().prepare_tokens(std::move(tokens));
  }
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override;
  Result<IdentityPtr> identify(const grpc::GenericCallbackServerContext&);
  std::string shown(const std::string& connection);
  void entered(Visitor);
  void sweep();

  Log& log_;
  const MethodRegistry& methods_;
  Front front_;
  const ServerSettings& settings_;
  GrpcServing serving_;
  bool stopped_ = false;
  bool authority_withdrawn_ = false;  // its connections are to go

  HandedOver handed_over_;
  std::chrono::steady_clock::time_point swept_;  // the listener's thread
  std::mutex users_mutex_;
  // On a Unix socket, by gRPC's name of a connection, "fd:12".
  std::unordered_map<std::string, IdentityPtr> users_;

  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;  // TCP
  std::unique_ptr<grpc::Server> server_;                                      // last: goes first
};

}  // namespace davit::host

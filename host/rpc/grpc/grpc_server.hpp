// GrpcServer is one [rpc.server.NAME] with transport = "grpc": a gRPC server that knows no message
// types. For every call it asks Admission who calls, whether the method exists, and whether the
// role may call it.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "../acceptor.hpp"
#include "../transport.hpp"
#include "grpc_served_call.hpp"

namespace davit::host {

class GrpcServer final : public RpcServer, private grpc::CallbackGenericService {
 public:
  GrpcServer(const Core&, ServerSettings, const MethodRegistry&);
  ~GrpcServer() override;

  Result<> check() override;
  Result<> listen() override;
  std::string address() const override { return acceptor_.address(); }
  std::vector<std::string> doubts() override { return acceptor_.admission().doubts(); }
  void look_after() override;
  void read_files() override;
  Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings> tokens) override {
    return acceptor_.admission().prepare_tokens(std::move(tokens));
  }
  bool knows_region(std::string_view region) override {
    return acceptor_.admission().knows_region(region);
  }
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override;
  Result<IdentityPtr> identify(const grpc::GenericCallbackServerContext&, const IdentityPtr& user);
  void entered(AcceptedConnection);
  void sweep();

  Log& log_;
  const MethodRegistry& methods_;
  Acceptor acceptor_;
  const ServerSettings& settings_;
  GrpcServing serving_;
  bool stopped_ = false;
  bool authority_withdrawn_ = false;  // close all connections at the next read_files

  std::chrono::steady_clock::time_point swept_;  // used on the listener's thread
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> grpc_acceptor_;  // TCP
  std::unique_ptr<grpc::Server> server_;  // last: destroyed first
};

}  // namespace davit::host

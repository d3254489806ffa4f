// GrpcClient is one [rpc.client.NAME] with transport = "grpc": a gRPC channel that adds its
// credentials to every call. It connects at the first call, and again with a bounded back-off when
// the connection is lost.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include "../caller.hpp"
#include "../transport.hpp"

namespace davit::host {

class Log;

class GrpcClient final : public RpcClient {
 public:
  GrpcClient(Log&, ClientSettings);
  ~GrpcClient() override;

  Result<> check() override;
  std::string doubt() override { return caller_.doubt(); }
  davit_rpc_call* start(const davit_rpc_start&, davit_strand*, const davit_rpc_handler*,
                        void* self) override;
  bool stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  Caller caller_;
  grpc::GenericStub stub_;
};

// The channel for these settings.
std::shared_ptr<grpc::Channel> make_channel(const ClientSettings&);

}  // namespace davit::host

// One [rpc.client.NAME]: a gRPC channel that adds its credentials to every call. It connects at the
// first call and again whenever the connection is lost, with a bounded pause.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "../token_file.hpp"
#include "../transport.hpp"

namespace davit::host {

class GrpcStartedCall;
class Log;

class GrpcClient final : public RpcClient {
 public:
  GrpcClient(Log&, ClientSettings);
  ~GrpcClient() override;

  Result<> check() override;
  davit_rpc_call* start(const davit_rpc_start&, davit_strand*, const davit_rpc_handler*,
                        void* self) override;
  bool stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  friend class GrpcStartedCall;
  void ended(GrpcStartedCall*);

  Log& log_;
  TokenFile token_;
  grpc::GenericStub stub_;
  std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<GrpcStartedCall*> open_;
};

// The channel of the settings; also for those who call without strands (connection.hpp).
std::shared_ptr<grpc::Channel> make_channel(const ClientSettings&);
// What the settings add to every call: authorization and the region's headers.
Result<Pairs> call_metadata(const ClientSettings&, TokenFile&);
// A status as the caller is told it: "control: " in front.
std::string described(const ClientSettings&, const grpc::Status&);

}  // namespace davit::host

#include "grpc_client.hpp"

#include <grpcpp/create_channel.h>

#include "core.hpp"
#include "credentials.hpp"
#include "grpc_started_call.hpp"
#include "library.hpp"
#include "metadata.hpp"

namespace davit::host {

std::shared_ptr<grpc::Channel> make_channel(const ClientSettings& s) {
  tame_grpc();
  constexpr int first_backoff_ms = 200;
  // How long one attempt to connect may take, TLS included. gRPC's name for this limit is
  // misleading.
  constexpr int connect_timeout_ms = 10'000;
  const int backoff_max_ms = static_cast<int>(s.reconnect_backoff_max.count());
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(s.keepalive_interval.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(s.keepalive_timeout.count()));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA,
                   0);  // a watch that is quiet for hours is kept alive
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   std::min(first_backoff_ms, backoff_max_ms));
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connect_timeout_ms);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, backoff_max_ms);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES,
                   0);  // retrying is the caller's, who knows what may be repeated
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(s.response_bytes_max));
  return grpc::CreateCustomChannel(s.target(), channel_credentials(s), arguments);
}

std::unique_ptr<RpcClient> make_grpc_client(const Core& core, ClientSettings settings) {
  return std::make_unique<GrpcClient>(core.log, std::move(settings));
}

GrpcClient::GrpcClient(Log& log, ClientSettings s)
    : RpcClient(std::move(s)), caller_(log, settings()), stub_(make_channel(settings())) {}

GrpcClient::~GrpcClient() {
  stop(std::chrono::steady_clock::now());
}

Result<> GrpcClient::check() {
  return caller_.check();
}

davit_rpc_call* GrpcClient::start(const davit_rpc_start& start, davit_strand* strand,
                                  const davit_rpc_handler* handler, void* self) {
  auto* started = new GrpcStartedCall(caller_, text(start.path), Callbacks(strand, handler, self));
  StartedCall* const call = &started->call();
  caller_.begun(call);
  auto metadata = caller_.metadata();
  if (metadata.ok()) {
    started->start(stub_, start, *metadata);
  } else {
    call->fail(End::of(metadata.error().in(settings().name)));
  }
  return call;
}

bool GrpcClient::stop(std::chrono::steady_clock::time_point deadline) {
  return caller_.end_all(deadline);
}

}  // namespace davit::host

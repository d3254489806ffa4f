// GrpcStartedCall is the transport of a StartedCall over gRPC: a callback reactor of raw bytes.
// GrpcClient makes one for each call.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include "../started_call.hpp"

namespace davit::host {

class GrpcStartedCall final : private StartedCall::Transport,
                              private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  GrpcStartedCall(Caller& caller, std::string path, Callbacks callbacks)
      : call_(caller, path, std::move(callbacks), *this), path_("/" + std::move(path)) {}

  StartedCall& call() { return call_; }

  // `metadata` is the channel's own: credentials and region.
  void start(grpc::GenericStub&, const davit_rpc_start&, const Pairs& metadata);

 private:
  // StartedCall::Transport. A hold keeps gRPC's call alive while reads and writes may be started
  // from outside gRPC's callbacks.
  void start_read() override;
  void start_write(davit_buf* const* parts, size_t parts_count) override;
  void start_half_close() override;
  void start_cancel() override { context_.TryCancel(); }
  void let_go() override;
  void destroy() override { delete this; }
  // gRPC
  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status&) override;

  StartedCall call_;
  const std::string path_;
  grpc::ClientContext context_;
  bool given_ = false;  // whether gRPC has the call
  grpc::ByteBuffer in_, out_;
};

}  // namespace davit::host

// GrpcServedCall is the transport of a ServedCall over gRPC: a callback reactor of raw bytes.
// GrpcServer makes one for each admitted call.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "../served_call.hpp"
#include "handed_over.hpp"

namespace davit::host {

struct GrpcServing : Serving {
  HandedOver connections{};
};

class GrpcServedCall final : private ServedCall::Transport, private grpc::ServerGenericBidiReactor {
 public:
  // The call leaves `connection` (OpenCalls) when gRPC is done with it.
  GrpcServedCall(GrpcServing&, ServedCall::Admitted, grpc::GenericCallbackServerContext*,
                 OpenCalls::Connection*);

  grpc::ServerGenericBidiReactor* reactor() { return this; }
  ServedCall& call() { return call_; }

 private:
  // ServedCall::Transport
  void start_read() override;
  bool start_write(davit_buf* const* parts, size_t parts_count, bool last,
                   const Pairs& headers) override;
  void send_end(const End&, const Pairs& headers) override;
  void drop_connection() override;
  void on_taken() override {}
  void destroy() override { delete this; }
  void add_headers(const Pairs&);
  // gRPC
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  ServedCall call_;  // first: destroyed last, and then the server may go
  GrpcServing& serving_;
  grpc::GenericCallbackServerContext* const context_;  // gRPC's; valid until OnDone
  OpenCalls::Connection* const connection_;            // until OnDone
  const std::string connection_name_;
  grpc::ByteBuffer in_, out_;
  bool answer_kept_ = false, headers_added_ = false;
};

// The reactor of a call that is refused before it begins. It leaves `connection` as well, unless
// that is NULL.
grpc::ServerGenericBidiReactor* refuse(GrpcServing&, grpc::GenericCallbackServerContext*,
                                       const End&, OpenCalls::Connection*);

}  // namespace davit::host

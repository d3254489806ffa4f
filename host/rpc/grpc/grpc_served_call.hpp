// GrpcServedCall is a call served over gRPC: the rules of ServedCall on top of a callback reactor
// of raw bytes. GrpcServer makes one for each admitted call.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <string>

#include "../open_calls.hpp"
#include "../served_call.hpp"

namespace davit::host {

class Log;

// What the calls of one server share. It outlives them.
struct GrpcServing {
  OpenCalls open;
  std::chrono::milliseconds retry_after{0};
  std::string server;
  Log* log = nullptr;
};

class GrpcServedCall final : public ServedCall, private grpc::ServerGenericBidiReactor {
 public:
  // The call leaves `connection` (OpenCalls) when gRPC is done with it.
  GrpcServedCall(GrpcServing&, const Method&, IdentityPtr, grpc::GenericCallbackServerContext*,
                 std::string peer, OpenCalls::Connection*);
  ~GrpcServedCall() override;

  grpc::ServerGenericBidiReactor* reactor() { return this; }

  davit_str metadata(davit_str key) const override;
  davit_str peer() const override { return str(peer_); }
  int64_t deadline_ns() const override;

 private:
  // ServedCall
  void start_read() override;
  bool start_write(davit_buf* const* parts, size_t parts_count, bool last) override;
  void send_end(End&) override;
  void misused(const char* what) override;
  void drop_connection() override;
  void add_headers();
  // gRPC
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  GrpcServing& serving_;
  grpc::GenericCallbackServerContext* const context_;  // gRPC's; valid until OnDone
  const std::string peer_;
  OpenCalls::Connection* const connection_;
  Pairs metadata_;  // the headers for the method
  grpc::ByteBuffer in_, out_;
  bool answer_kept_ = false, headers_added_ = false;
  bool reads_ = false;  // the plugin has granted a read
};

// The reactor of a call that is refused before it begins. It leaves `connection` as well, unless
// that is NULL.
grpc::ServerGenericBidiReactor* refuse(GrpcServing&, grpc::GenericCallbackServerContext*,
                                       const End&, OpenCalls::Connection*);

}  // namespace davit::host

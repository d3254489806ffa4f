#include "grpc_served_call.hpp"

#include "buffers.hpp"
#include "metadata.hpp"
#include "order.hpp"

namespace davit::host {

namespace {

void add_trailers(grpc::GenericCallbackServerContext& context, const Pairs& trailers) {
  for (const auto& [key, value] : trailers) {
    if (can_be_sent(key, value)) context.AddTrailingMetadata(key, value);
  }
}

}  // namespace

GrpcServedCall::GrpcServedCall(GrpcServing& serving, ServedCall::Admitted call,
                               grpc::GenericCallbackServerContext* context,
                               OpenCalls::Connection* connection)
    : call_(serving, std::move(call), *this),
      serving_(serving),
      context_(context),
      connection_(connection),
      connection_name_(connection->first) {
  before_operation(this);  // gRPC may cancel it
}

void GrpcServedCall::start_read() {
  before_operation(this);
  StartRead(&in_);
}

void GrpcServedCall::add_headers(const Pairs& headers) {
  if (std::exchange(headers_added_, true)) return;
  for (const auto& [key, value] : headers) {
    if (can_be_sent(key, value)) context_->AddInitialMetadata(key, value);
  }
}

bool GrpcServedCall::start_write(davit_buf* const* parts, size_t parts_count, bool last,
                                 const Pairs& headers) {
  add_headers(headers);
  out_ = to_grpc(parts, parts_count);
  answer_kept_ = last;
  if (last) return false;
  before_operation(this);
  StartWrite(&out_);
  return false;
}

void GrpcServedCall::send_end(const End& end, const Pairs& headers) {
  add_headers(headers);
  add_trailers(*context_, end.trailers);
  before_operation(this);
  if (answer_kept_ && end.code == Code::ok) {
    StartWriteAndFinish(&out_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    Finish(to_grpc(end));
  }
}

void GrpcServedCall::drop_connection() {
  serving_.connections.cut(connection_name_);
}

void GrpcServedCall::OnReadDone(bool ok) {
  const InCallback in(this);
  call_.on_read(ok ? from_grpc(in_) : Buffer(), ok);
}

void GrpcServedCall::OnWriteDone(bool ok) {
  const InCallback in(this);
  out_.Clear();
  call_.on_written(ok);
}

void GrpcServedCall::OnCancel() {
  const InCallback in(this);
  call_.on_cancelled();
}

void GrpcServedCall::OnDone() {
  after_operations(this);
  serving_.open.leave(connection_);
  call_.on_ended();
}

grpc::ServerGenericBidiReactor* refuse(GrpcServing& serving,
                                       grpc::GenericCallbackServerContext* context, const End& end,
                                       OpenCalls::Connection* connection) {
  class Refused final : public grpc::ServerGenericBidiReactor {
   public:
    Refused(OpenCalls& open, OpenCalls::Connection* c, const End& e) : open_(open), connection_(c) {
      before_operation(this);
      Finish(to_grpc(e));
    }
    void OnDone() override {
      after_operations(this);
      if (connection_ != nullptr) open_.leave(connection_);
      delete this;
    }

   private:
    OpenCalls& open_;
    OpenCalls::Connection* const connection_;
  };
  add_trailers(*context, end.trailers);
  return new Refused(serving.open, connection, end);
}

}  // namespace davit::host

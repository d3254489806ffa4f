#include "grpc_started_call.hpp"

#include "../status_details.hpp"
#include "buffers.hpp"
#include "metadata.hpp"
#include "order.hpp"

namespace davit::host {

void GrpcStartedCall::start(grpc::GenericStub& stub, const davit_rpc_start& start,
                            const Pairs& metadata) {
  for (const auto& [key, value] : metadata) context_.AddMetadata(key, value);
  for (const auto& [key, value] : from_abi(start.metadata, start.metadata_count)) {
    if (can_be_sent(key, value)) context_.AddMetadata(key, value);
  }
  if (start.deadline_ns != INT64_MAX) context_.set_deadline(to_grpc_deadline(start.deadline_ns));
  stub.PrepareBidiStreamingCall(&context_, path_, {}, this);
  AddHold();  // before StartCall: the call may be over right after it
  given_ = true;
  before_operation(this);
  StartCall();
  call_.begin();
}

void GrpcStartedCall::start_read() {
  before_operation(this);
  StartRead(&in_);
}

void GrpcStartedCall::start_half_close() {
  before_operation(this);
  StartWritesDone();
}

void GrpcStartedCall::let_go() {
  before_operation(this);
  RemoveHold();
}

void GrpcStartedCall::start_write(davit_buf* const* parts, size_t parts_count) {
  out_ = to_grpc(parts, parts_count);
  before_operation(this);
  StartWrite(&out_);
}

void GrpcStartedCall::OnReadInitialMetadataDone(bool ok) {
  const InCallback in(this);
  if (!ok || !given_) return;
  call_.on_headers(from_grpc(context_.GetServerInitialMetadata()));
}

void GrpcStartedCall::OnReadDone(bool ok) {
  const InCallback in(this);
  call_.on_read(ok ? from_grpc(in_) : Buffer(), ok);
}

void GrpcStartedCall::OnWriteDone(bool ok) {
  const InCallback in(this);
  out_.Clear();
  call_.on_written(ok);
}

void GrpcStartedCall::OnDone(const grpc::Status& status) {
  after_operations(this);
  End end;
  end.code = from_grpc(status.error_code());
  end.message = status.error_message();
  if (given_) end.trailers = from_grpc(context_.GetServerTrailingMetadata());
  std::erase_if(end.trailers, [](const auto& t) { return t.first == "grpc-status-details-bin"; });
  end.details = read_status_details(status.error_details());
  // The server resets a call at its deadline. If gRPC has checked its own clock just before, it
  // reports that reset as CANCELLED.
  const bool time_is_up = std::chrono::system_clock::now() >= context_.deadline();
  if (end.code == Code::cancelled && time_is_up && !call_.is_cancelled()) {
    end.code = Code::deadline_exceeded;
    end.message = "the deadline has passed";
  }
  call_.on_ended(std::move(end));
}

}  // namespace davit::host

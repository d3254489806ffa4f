#include "grpc_served_call.hpp"

#include "../cut.hpp"
#include "buffers.hpp"
#include "metadata.hpp"
#include "services/log.hpp"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace davit::host {

namespace {

// The distribution's gRPC is not instrumented. So ThreadSanitizer does not see how a new call
// passes from the thread that made it to the one that cancels it. These two functions tell it.
void made([[maybe_unused]] void* call) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(call);
#endif
}
void taken_over([[maybe_unused]] void* call) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(call);
#endif
}

void add_trailers(grpc::GenericCallbackServerContext& context, const Pairs& trailers) {
  for (const auto& [key, value] : trailers) {
    if (can_be_sent(key, value)) context.AddTrailingMetadata(key, value);
  }
}

}  // namespace

GrpcServedCall::GrpcServedCall(GrpcServing& serving, const Method& m, IdentityPtr identity,
                               grpc::GenericCallbackServerContext* context, std::string peer,
                               OpenCalls::Connection* connection)
    : ServedCall(m, std::move(identity)),
      serving_(serving),
      context_(context),
      peer_(std::move(peer)),
      connection_(connection) {
  // A header that is given twice counts as one list, as in HTTP: no single value is used.
  for (const auto& [key, value] : context->client_metadata()) {
    if (!is_for_the_method(view(key))) continue;
    if (!metadata_.empty() && metadata_.back().first == view(key)) {
      metadata_.back().second.append(", ").append(view(value));
    } else {
      metadata_.emplace_back(view(key), view(value));
    }
  }
  metadata_.shrink_to_fit();
  serving_.open.add(this);
  made(this);
}

GrpcServedCall::~GrpcServedCall() {
  keep(nullptr);  // the server may be destroyed once no call is left
  serving_.open.remove(this);
}

davit_str GrpcServedCall::metadata(davit_str key) const {
  for (const auto& [k, value] : metadata_) {
    if (k == davit::view(key)) return str(value);
  }
  return {};
}

void GrpcServedCall::start_read() {
  const bool first = !std::exchange(reads_, true);
  if (first && !method().streams_requests()) serving_.open.expect(this);
  StartRead(&in_);
}

void GrpcServedCall::add_headers() {
  if (std::exchange(headers_added_, true)) return;
  for (const auto& [key, value] : headers_to_send()) {
    if (can_be_sent(key, value)) context_->AddInitialMetadata(key, value);
  }
}

int64_t GrpcServedCall::deadline_ns() const {
  const auto at = context_->deadline();
  if (at == std::chrono::system_clock::time_point::max()) return INT64_MAX;
  const auto left = at - std::chrono::system_clock::now();
  return (std::chrono::steady_clock::now().time_since_epoch() + left).count();
}

bool GrpcServedCall::start_write(davit_buf* const* parts, size_t parts_count, bool last) {
  add_headers();
  out_ = to_grpc(parts, parts_count);
  answer_kept_ = last;
  if (!last) StartWrite(&out_);
  return false;
}

void GrpcServedCall::send_end(End& end) {
  if (serving_.open.draining() && (end.code == Code::cancelled || end.code == Code::unavailable)) {
    // The server asked for this end. The caller is to come back, here or elsewhere.
    end.code = Code::unavailable;
    end.message = "the server is shutting down";
    end.trailers = {{"retry-after-ms", std::to_string(serving_.retry_after.count())}};
  }
  add_headers();
  add_trailers(*context_, end.trailers);
  if (answer_kept_ && end.code == Code::ok) {
    StartWriteAndFinish(&out_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    Finish(to_grpc(end));
  }
}

void GrpcServedCall::misused(const char* what) {
  serving_.log->error("rpc", "method broke the contract",
                      {{"instance", method().instance}, {"method", method().path}, {"what", what}});
}

// Only calls of TCP listeners are dropped. Their peer_ is gRPC's name of the connection.
void GrpcServedCall::drop_connection() {
  cut(peer_);
}

void GrpcServedCall::OnReadDone(bool ok) {
  if (!method().streams_requests()) serving_.open.came(this);
  on_read(ok ? from_grpc(in_) : Buffer(), ok);
}

void GrpcServedCall::OnWriteDone(bool ok) {
  out_.Clear();
  on_written(ok);
}

void GrpcServedCall::OnCancel() {
  taken_over(this);
  on_cancelled();
}

void GrpcServedCall::OnDone() {
  serving_.open.leave(connection_);
  on_ended();
}

grpc::ServerGenericBidiReactor* refuse(GrpcServing& serving,
                                       grpc::GenericCallbackServerContext* context, const End& end,
                                       OpenCalls::Connection* connection) {
  class Refused final : public grpc::ServerGenericBidiReactor {
   public:
    Refused(OpenCalls& open, OpenCalls::Connection* c, const End& e) : open_(open), connection_(c) {
      Finish(to_grpc(e));
    }
    void OnDone() override {
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

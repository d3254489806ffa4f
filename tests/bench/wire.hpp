// A bare client of both wires for the measurements and the torture: blocking calls with the
// generated messages, no plugin, no host. What it does is what any peer must do at least.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/codegen/sync_stream.h>
#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace davit::bench {

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A call that failed, or a stream that ended, well or not.
class Ended : public std::runtime_error {
 public:
  Ended(const std::string& path, const grpc::Status& status)
      : std::runtime_error(path + " ended: " + status.error_message()), code(status.error_code()) {}
  const grpc::StatusCode code;
};

inline std::shared_ptr<grpc::Channel> connect(const std::string& target,
                                              grpc::ChannelArguments arguments = {}) {
  arguments.SetMaxReceiveMessageSize(64 << 20);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

inline void authorize(grpc::ClientContext& context, const std::string& token,
                      const std::string& region) {
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  if (!region.empty()) context.AddMetadata("x-krane-region", region);
}

inline std::string read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  return token;
}

using Deadline = std::chrono::system_clock::time_point;
constexpr Deadline never = Deadline::max();

// A unary call that must succeed.
template <class Response, class Request>
Response call(const std::shared_ptr<grpc::Channel>& channel, const char* path,
              const Request& request, const std::string& token = {}, const std::string& region = {},
              Deadline deadline = never) {
  grpc::ClientContext context;
  context.set_deadline(deadline);
  authorize(context, token, region);
  Response response;
  const grpc::internal::RpcMethod method(path, grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall(channel.get(), method, &context, request, &response);
  if (!status.ok()) throw Ended(path, status);
  return response;
}

// An open server stream. The method must live as long as the reader.
template <class Message>
class Stream {
 public:
  template <class Request>
  Stream(std::shared_ptr<grpc::Channel> channel, const std::string& path, const Request& request,
         const std::string& token, const std::string& region, Deadline deadline = never)
      : channel_(std::move(channel)),
        path_(path),
        method_(path_.c_str(), grpc::internal::RpcMethod::SERVER_STREAMING) {
    context_.set_deadline(deadline);
    authorize(context_, token, region);
    reader_.reset(grpc::internal::ClientReaderFactory<Message>::Create(channel_.get(), method_,
                                                                       &context_, request));
  }
  ~Stream() {
    if (ended_) return;
    context_.TryCancel();
    Message rest;
    while (reader_->Read(&rest)) {
    }
    (void)reader_->Finish();
  }
  // Waits for the next message; throws when the stream ends.
  void next(Message* out) {
    if (reader_->Read(out)) return;
    ended_ = true;
    throw Ended(path_, reader_->Finish());
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::string path_;
  grpc::internal::RpcMethod method_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Message>> reader_;
  bool ended_ = false;
};

}  // namespace davit::bench

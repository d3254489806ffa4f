// A bare client of both wires for the measurements and the torture: blocking calls with the
// generated messages, no plugin, no host. What it does is what any peer must do at least.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>
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

// A call with one request, by gRPC's stub for any message. Each step waits until it is done.
template <class Message>
class Stream {
 public:
  template <class Request>
  Stream(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
         const Request& request, const std::string& token, const std::string& region,
         Deadline deadline = never)
      : path_(path) {
    context_.set_deadline(deadline);
    authorize(context_, token, region);
    call_ = grpc::TemplatedGenericStub<google::protobuf::MessageLite, Message>(channel).PrepareCall(
        &context_, path_, &queue_);
    call_->StartCall(nullptr);
    wait();
    call_->WriteLast(request, {}, nullptr);
    wait();
  }
  ~Stream() {
    if (ended_) return;
    context_.TryCancel();
    (void)finish();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Waits for the next message; throws when the stream ends.
  void next(Message* out) {
    call_->Read(out, nullptr);
    if (!wait()) throw Ended(path_, finish());
  }
  // How it ended; once, last.
  grpc::Status finish() {
    ended_ = true;
    grpc::Status out;
    call_->Finish(&out, nullptr);
    wait();
    return out;
  }

 private:
  bool wait() {
    void* tag = nullptr;
    bool done = false;
    return queue_.Next(&tag, &done) && done;
  }
  const std::string path_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<google::protobuf::MessageLite, Message>> call_;
  bool ended_ = false;
};

// A unary call that must succeed.
template <class Response, class Request>
Response call(const std::shared_ptr<grpc::Channel>& channel, const char* path,
              const Request& request, const std::string& token = {}, const std::string& region = {},
              Deadline deadline = never) {
  Stream<Response> stream(channel, path, request, token, region, deadline);
  Response response;
  stream.next(&response);
  const grpc::Status status = stream.finish();
  if (!status.ok()) throw Ended(path, status);
  return response;
}

}  // namespace davit::bench

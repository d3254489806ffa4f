// The floor under the memory of a stream: a gRPC server that takes any call, reads one message,
// writes one and keeps the call open. What it needs per stream, everybody who serves streams with
// gRPC needs.
//
//   floor-server      prints its port and serves until its input ends
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <iostream>
#include <string>

namespace {

class Stream final : public grpc::ServerGenericBidiReactor {
 public:
  Stream() { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    const grpc::Slice slice(std::string(30, 'x'));  // about what a bookmark takes
    message_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&message_);
  }
  void OnWriteDone(bool) override { message_.Clear(); }
  void OnCancel() override { Finish(grpc::Status::CANCELLED); }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer message_;
};

class Floor final : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Stream;
  }
};

}  // namespace

int main() {
  Floor service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service);
  const auto server = builder.BuildAndStart();
  std::printf("%d\n", port);
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  return 0;
}

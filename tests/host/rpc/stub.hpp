// A client of bytes that is not ours: gRPC's own, without the host's channel, its token or its
// metadata.
#pragma once

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <optional>
#include <string>

#include "rig.hpp"

namespace davit::host {

class Stub {
 public:
  // "127.0.0.1:1234" or "unix:/path"; no Authorization header without a token.
  explicit Stub(const std::string& target, std::string token = {})
      : channel_(grpc::CreateChannel(target, grpc::InsecureChannelCredentials())),
        stub_(channel_),
        token_(std::move(token)) {}

  class Talk {
   public:
    Talk(Stub& stub, const std::string& path) {
      if (!stub.token_.empty()) context_.AddMetadata("authorization", "Bearer " + stub.token_);
      context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(90));
      stream_ = stub.stub_.PrepareCall(&context_, "/" + path, &queue_);
      stream_->StartCall(nullptr);
      done();
    }
    ~Talk() {
      if (!finished_) {
        context_.TryCancel();
        finish();
      }
      queue_.Shutdown();
      void* tag = nullptr;
      bool ok = false;
      while (queue_.Next(&tag, &ok)) {
      }
    }
    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;

    bool write(const std::string& message) {
      const grpc::Slice slice(message);
      stream_->Write(grpc::ByteBuffer(&slice, 1), nullptr);
      return done();
    }
    // The one request of a method that takes one.
    void ask(const std::string& message) {
      write(message);
      half_close();
    }
    void half_close() {
      stream_->WritesDone(nullptr);
      done();
    }
    // Nothing: there are no more messages.
    std::optional<std::string> read() {
      grpc::ByteBuffer buffer;
      stream_->Read(&buffer, nullptr);
      if (!done()) return std::nullopt;
      std::vector<grpc::Slice> slices;
      EXPECT_TRUE(buffer.Dump(&slices).ok());
      std::string out;
      for (const auto& s : slices) out.append(reinterpret_cast<const char*>(s.begin()), s.size());
      return out;
    }
    grpc::Status finish() {
      grpc::Status status;
      stream_->Finish(&status, nullptr);
      done();
      finished_ = true;
      return status;
    }

   private:
    bool done() {
      void* tag = nullptr;
      bool ok = false;
      return queue_.Next(&tag, &ok) && ok;
    }
    grpc::CompletionQueue queue_;
    grpc::ClientContext context_;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
    bool finished_ = false;
  };

  struct Answer {
    grpc::Status status;
    std::string message;
  };
  Answer unary(const std::string& path, const std::string& request) {
    Talk talk(*this, path);
    talk.ask(request);
    auto message = talk.read();
    return {talk.finish(), message.value_or("")};
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  const std::string token_;
};

}  // namespace davit::host

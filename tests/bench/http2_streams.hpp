// Server streams over HTTP/2 without TLS, in the framing of Connect or of gRPC. One client for
// both, so that a difference is the server's: plain sockets, nghttp2 and the caller's thread.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace davit::bench {

enum class Framing { connect, grpc };

// "connect" or "grpc"; throws for another name.
Framing framing(const std::string& name);

struct StreamRequest {
  std::string path, token, region;
  grpc::ByteBuffer message;
};

class Http2Streams {
 public:
  // False: the message cannot be read. It is there during the call only.
  using Arrived = std::function<bool(size_t stream, std::string_view message)>;

  // `server` is 127.0.0.1:PORT.
  Http2Streams(Framing framing, const std::string& server, size_t connections, Arrived arrived);
  ~Http2Streams();
  // Streams are numbered from 0 and go round the connections.
  void open(const StreamRequest& request);
  // `over` is asked whenever something has come. Throws when a stream ends, or after `limit`.
  void run_until(const std::function<bool()>& over, std::chrono::seconds limit);
  void run_until_input_ends();

 private:
  struct Callbacks;
  struct Connection;
  struct Stream;

  const Framing framing_;
  const Arrived arrived_;
  const int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::string fault_;
  bool input_ended_ = false;
};

}  // namespace davit::bench

// Calls a server's operator API for the commands: blocking, one call at a time. gRPC is visible in
// operator_client.cpp only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <davit/types.hpp>

#include "arguments.hpp"

namespace google::protobuf {
class MessageLite;
}

namespace davit::host {

// Where the server is and as whom to call it.
struct ServerAddress {
  std::string url;         // unix:/path, http://host:port or https://host:port
  std::string token_file;  // over TCP
  std::string ca_file;     // of https, when not the system's
  // Of the whole command; absent: every call has a limit of its own.
  std::optional<std::chrono::milliseconds> timeout{};

  // --server, --token-file, --ca-file and --timeout, $DAVIT_SERVER, or the socket of a packaged
  // server.
  static ServerAddress from(Arguments& arguments);
};

class OperatorClient {
 public:
  using Clock = std::chrono::steady_clock;

  // Reads the files that the address names; connects with the first call. The address's timeout
  // begins now, and every call below and `pause` end with it.
  static Result<OperatorClient> open(const ServerAddress& address);
  OperatorClient(OperatorClient&&) noexcept;
  ~OperatorClient();

  // `method`: "Apply". Without a timeout it gives up after 30 s.
  Result<> call(const std::string& method, const google::protobuf::MessageLite& request,
                google::protobuf::MessageLite& response);
  // A streaming method that ends by itself: `see` finds each message in `response`. Without a
  // timeout it gives up when it has not ended after five minutes.
  Result<> list(const std::string& method, const google::protobuf::MessageLite& request,
                google::protobuf::MessageLite& response, const std::function<void()>& see);
  // A streaming method: `see` finds each message in `response`. Until it answers false (ok), the
  // timeout (DEADLINE_EXCEEDED) or the stream breaks.
  Result<> watch(const std::string& method, const google::protobuf::MessageLite& request,
                 google::protobuf::MessageLite& response, const std::function<bool()>& see);
  // Before another attempt. False at once when the timeout would come first.
  bool pause(std::chrono::milliseconds duration) const;

 private:
  struct Connection;
  explicit OperatorClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace davit::host

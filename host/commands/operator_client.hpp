// Calls a server's operator API for the commands. Calls block, one at a time. Only
// operator_client.cpp includes gRPC.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <davit/types.hpp>

#include "command_line.hpp"

namespace google::protobuf {
class MessageLite;
}

namespace davit::host {

// The server's address, and the credentials for it.
struct ServerAddress {
  std::string url = "unix:/run/davit/operator.sock";  // or http://host:port, https://host:port
  std::string token_file;                             // for TCP
  std::string ca_file;                                // for https; empty: the system's authorities
  // The limit of the whole command. Absent: each call has a limit of its own.
  std::optional<std::chrono::milliseconds> timeout{};

  // Adds --server, --token-file, --ca-file and --timeout. Without --server: $DAVIT_SERVER, or the
  // socket of a packaged server.
  void add_options(Command& command);
};

class OperatorClient {
 public:
  using Clock = std::chrono::steady_clock;

  // Reads the files that the address names. The first call connects. The address's timeout begins
  // now, and limits every call below and `pause`.
  static Result<OperatorClient> open(const ServerAddress& address);
  OperatorClient(OperatorClient&&) noexcept;
  ~OperatorClient();

  // Makes a call such as "Apply", or "FederationService/Status" of another service. Without a timeout it gives up after 30 s.
  Result<> call(const std::string& method, const google::protobuf::MessageLite& request,
                google::protobuf::MessageLite& response);
  // Calls a streaming method that ends by itself. Calls `see` for each message, which is in
  // `response`. Without a timeout it gives up after five minutes.
  Result<> list(const std::string& method, const google::protobuf::MessageLite& request,
                google::protobuf::MessageLite& response, const std::function<void()>& see);
  // Calls a streaming method. Calls `see` for each message, which is in `response`. Ends when `see`
  // returns false (ok), at the timeout (DEADLINE_EXCEEDED), or when the stream breaks.
  Result<> watch(const std::string& method, const google::protobuf::MessageLite& request,
                 google::protobuf::MessageLite& response, const std::function<bool()>& see);
  // Waits before another attempt. Returns false at once if the timeout would pass first.
  bool pause(std::chrono::milliseconds duration) const;

 private:
  struct Connection;
  explicit OperatorClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace davit::host

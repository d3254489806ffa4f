// Link is a connected socket, TCP or Unix, plain or with TLS. A Connection reads and writes it. Use
// it on the thread of its executor. Callbacks come later, never from within a call.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>

namespace davit::host {

// Of any family. A TCP socket becomes one by moving.
using Socket = boost::asio::generic::stream_protocol::socket;

class Link {
 public:
  using Done = std::function<void(boost::system::error_code, size_t)>;
  virtual ~Link() = default;
  // The TLS handshake. A plain socket needs none.
  virtual void handshake(std::function<void(boost::system::error_code)>) = 0;
  virtual void read_some(boost::asio::mutable_buffer, Done) = 0;
  virtual void write(boost::asio::const_buffer, Done) = 0;  // writes all bytes
  // Pending reads and writes end with an error. Idempotent.
  virtual void close() = 0;
  // The protocol agreed on by ALPN. Empty: none.
  virtual std::string protocol() const = 0;
  virtual boost::asio::any_io_executor executor() = 0;
};

std::unique_ptr<Link> plain_link(Socket);
// `host` is the name that the server's certificate must have. Empty: this is the serving end.
std::unique_ptr<Link> tls_link(Socket, std::shared_ptr<boost::asio::ssl::context>,
                               const std::string& host);

}  // namespace davit::host

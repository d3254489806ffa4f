// A connected socket, TCP or Unix, plain or with TLS: what a connection reads and writes. On the
// thread of its executor; callbacks come later, never from within a call.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>

namespace davit::host {

// Of any family; those of TCP become one by moving.
using Socket = boost::asio::generic::stream_protocol::socket;

class Link {
 public:
  using Done = std::function<void(boost::system::error_code, size_t)>;
  virtual ~Link() = default;
  // TLS; of a plain socket it is done at once.
  virtual void handshake(std::function<void(boost::system::error_code)>) = 0;
  virtual void read_some(boost::asio::mutable_buffer, Done) = 0;
  virtual void write(boost::asio::const_buffer, Done) = 0;  // all of it
  // What is under way ends with an error. Idempotent.
  virtual void close() = 0;
  // The protocol that TLS agreed on; empty: none.
  virtual std::string protocol() const = 0;
  virtual boost::asio::any_io_executor executor() = 0;
};

std::unique_ptr<Link> plain_link(Socket);
// `host` is what the server's certificate must name; empty: this is the serving end.
std::unique_ptr<Link> tls_link(Socket, std::shared_ptr<boost::asio::ssl::context>,
                               const std::string& host);

}  // namespace davit::host

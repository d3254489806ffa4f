#include "link.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace davit::host {

namespace {

namespace asio = boost::asio;

class PlainLink final : public Link {
 public:
  explicit PlainLink(Socket s) : socket_(std::move(s)) {}
  void handshake(std::function<void(boost::system::error_code)> done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}); });
  }
  void read_some(asio::mutable_buffer to, Done done) override {
    socket_.async_read_some(to, std::move(done));
  }
  void write(asio::const_buffer from, Done done) override {
    asio::async_write(socket_, from, std::move(done));
  }
  void close() override {
    boost::system::error_code none;
    socket_.shutdown(Socket::shutdown_both, none);
    socket_.close(none);
  }
  std::string protocol() const override { return {}; }
  asio::any_io_executor executor() override { return socket_.get_executor(); }

 private:
  Socket socket_;
};

class TlsLink final : public Link {
 public:
  TlsLink(Socket s, std::shared_ptr<asio::ssl::context> context, const std::string& host)
      : context_(std::move(context)), stream_(std::move(s), *context_), serving_(host.empty()) {
    if (serving_) return;
    // Server Name Indication is for names only (RFC 6066, 3).
    boost::system::error_code is_name;
    asio::ip::make_address(host, is_name);
    if (is_name) SSL_set_tlsext_host_name(stream_.native_handle(), host.c_str());
    stream_.set_verify_callback(asio::ssl::host_name_verification(host));
  }
  void handshake(std::function<void(boost::system::error_code)> done) override {
    stream_.async_handshake(
        serving_ ? asio::ssl::stream_base::server : asio::ssl::stream_base::client,
        std::move(done));
  }
  void read_some(asio::mutable_buffer to, Done done) override {
    stream_.async_read_some(to, std::move(done));
  }
  void write(asio::const_buffer from, Done done) override {
    asio::async_write(stream_, from, std::move(done));
  }
  // Sends no close_notify: it would have to be waited for, and HTTP says where a message ends.
  void close() override {
    boost::system::error_code none;
    stream_.next_layer().shutdown(Socket::shutdown_both, none);
    stream_.next_layer().close(none);
  }
  std::string protocol() const override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(const_cast<TlsLink*>(this)->stream_.native_handle(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  asio::any_io_executor executor() override { return stream_.get_executor(); }

 private:
  const std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<Socket> stream_;
  const bool serving_;
};

}  // namespace

std::unique_ptr<Link> plain_link(Socket s) {
  return std::make_unique<PlainLink>(std::move(s));
}

std::unique_ptr<Link> tls_link(Socket s, std::shared_ptr<asio::ssl::context> context,
                               const std::string& host) {
  return std::make_unique<TlsLink>(std::move(s), std::move(context), host);
}

}  // namespace davit::host

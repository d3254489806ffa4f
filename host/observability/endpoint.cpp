#include "endpoint.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include "config/config.hpp"
#include "http_answer.hpp"
#include "runtime/runtime.hpp"
#include "services/host_and_port.hpp"
#include "services/passed_sockets.hpp"

namespace davit::host {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t head_bytes_max = 8192;          // a request of Prometheus has a few hundred bytes
constexpr std::chrono::seconds patience{10};     // for one request and its answer
constexpr std::chrono::seconds accept_pause{1};  // after accept fails, for lack of descriptors
constexpr size_t connections_max = 32;

// One connection, which serves one request. Its handlers own it; all run on the endpoint's strand.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const Core& core)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), core_(core) {}

  void close() {
    error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
  }
  bool has_asked() const { return !answer_.empty(); }

  void run() {
    timer_.expires_after(patience);
    timer_.async_wait([self = weak_from_this()](error_code error) {
      if (auto session = self.lock(); session && !error) session->close();
    });
    asio::async_read_until(socket_, asio::dynamic_buffer(head_, head_bytes_max), "\r\n\r\n",
                           [self = shared_from_this()](error_code error, size_t) {
                             if (error) return self->close();
                             self->answer();
                           });
  }

 private:
  void answer() {
    answer_ = http_answer(head_, core_.metrics, core_.health);
    asio::async_write(socket_, asio::buffer(answer_),
                      [self = shared_from_this()](error_code, size_t) {
                        error_code ignored;
                        self->socket_.shutdown(tcp::socket::shutdown_both, ignored);
                        self->close();
                      });
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  const Core& core_;
  std::string head_, answer_;
};

class Endpoint : public Extension {
 public:
  explicit Endpoint(const Core& core)
      : core_(core),
        strand_(asio::make_strand(core.runtime.io())),
        acceptor_(strand_),
        pause_(strand_) {}

  const void* service(std::string_view) const override { return nullptr; }

  void configure(const Config& config, Faults& faults) override {
    at_ = read(config, faults, listen_);
  }

  // A changed address takes a restart. A wrong one is a fault of the reload.
  std::function<void()> prepare_reload(const Config& config, Faults& faults,
                                       std::vector<std::string>&) override {
    std::string listen;
    read(config, faults, listen);
    return {};
  }

  std::vector<Described> describe() const override {
    if (listen_.empty()) return {};
    return {{"", "listens", "metrics http://" + listen_ + "/metrics"}};
  }

  Result<> listen() override {
    if (listen_.empty()) return {};
    error_code error;
    if (const auto r = take_over(error); !r.ok()) {
      return r.error().in("host.metrics_listen");
    } else if (!*r) {
      bind(error);
    }
    if (error) {
      return Error{Code::unavailable,
                   "host.metrics_listen: cannot listen on " + listen_ + ": " + error.message()};
    }
    asio::post(strand_, [this] { accept(); });
    return {};
  }

  void stop(std::chrono::steady_clock::time_point) override {
    asio::post(strand_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      for (const auto& session : sessions_) {
        if (auto open = session.lock()) open->close();
      }
    });
  }

 private:
  // True: the service manager listens at the address, and has passed the socket.
  Result<bool> take_over(error_code& error) {
    if (core_.passed == nullptr) return false;
    const auto passed = core_.passed->take("host.metrics_listen", listen_);
    if (!passed.ok()) return passed.error();
    if (passed->empty()) return false;
    for (size_t i = 1; i < passed->size(); ++i) ::close((*passed)[i]);
    if (passed->size() > 1)
      return Error{Code::failed_precondition, "the service manager passes several sockets for it"};
    const bool six = address_of_listening(passed->front()).starts_with('[');
    acceptor_.assign(six ? tcp::v6() : tcp::v4(), passed->front(), error);
    return true;
  }

  void bind(error_code& error) {
    tcp::resolver resolver(strand_);
    const auto found = resolver.resolve(at_.host, std::to_string(at_.port), error);
    if (error) return;
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  }

  void accept() {
    acceptor_.async_accept(strand_, [this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (!error) {
        serve(std::move(socket));
        return accept();
      }
      pause_.expires_after(accept_pause);
      pause_.async_wait([this](error_code stopped) {
        if (!stopped) accept();
      });
    });
  }

  // Clients that send their request get the answer at once, so a connection that stays open is a
  // slow client. At the limit the slowest one gives way to the new one.
  void serve(tcp::socket socket) {
    std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
    if (sessions_.size() >= connections_max) close_the_slowest();
    auto session = std::make_shared<Session>(std::move(socket), core_);
    sessions_.push_back(session);
    session->run();
  }

  void close_the_slowest() {
    const auto silent = std::find_if(sessions_.begin(), sessions_.end(), [](const auto& weak) {
      const auto session = weak.lock();
      return session && !session->has_asked();
    });
    const auto slowest = silent == sessions_.end() ? sessions_.begin() : silent;
    if (const auto session = slowest->lock()) session->close();
    sessions_.erase(slowest);
  }

  static HostAndPort read(const Config& config, Faults& faults, std::string& listen) {
    const Table host = config.table("host", faults);
    listen = host.string("metrics_listen", "");
    if (listen.empty()) return {};
    if (auto address = host_and_port(listen)) return *address;
    host.reject("metrics_listen", "must be ADDRESS:PORT, not \"" + listen + "\"");
    return {};
  }

  const Core& core_;
  std::string listen_;
  HostAndPort at_;
  asio::strand<asio::io_context::executor_type> strand_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::vector<std::weak_ptr<Session>> sessions_;  // in the order of their arrival
};

}  // namespace

std::unique_ptr<Extension> make_endpoint(const Core& core) {
  return std::make_unique<Endpoint>(core);
}

}  // namespace davit::host

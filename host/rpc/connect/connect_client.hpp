// ConnectClient is one [rpc.client.NAME] with transport = "connect". All its calls share one HTTP/2
// connection. It connects at the first call, and again when the connection is lost. It has a thread
// of its own.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <optional>
#include <thread>

#include "../caller.hpp"
#include "../transport.hpp"
#include "connect_started_call.hpp"
#include "connection.hpp"
#include "http2_session.hpp"

namespace davit::host {

class Log;

class ConnectClient final : public RpcClient {
 public:
  ConnectClient(Log&, ClientSettings);
  ~ConnectClient() override;

  Result<> check() override;
  std::string doubt() override { return caller_.doubt(); }
  davit_rpc_call* start(const davit_rpc_start&, davit_strand*, const davit_rpc_handler*,
                        void* self) override;
  bool stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  using tcp = boost::asio::ip::tcp;
  using Time = std::chrono::steady_clock::time_point;
  // A connection that is being made.
  struct Attempt {
    explicit Attempt(boost::asio::io_context& io) : socket(io) {}
    tcp::socket socket;
    std::shared_ptr<Connection> connection;  // once the socket is connected
  };
  // The connection that takes calls.
  struct Open {
    std::shared_ptr<Connection> connection;
    Http2Session* session = nullptr;  // the connection's
  };
  Pairs head(const davit_rpc_start&, const Pairs& own, bool streams) const;

  // On the connection's thread.
  void open(const std::shared_ptr<CalledStream>&);
  bool try_open(const std::shared_ptr<CalledStream>&);
  void connect();
  void resolved(const std::shared_ptr<Attempt>&, boost::system::error_code,
                const tcp::resolver::results_type&);
  void connected();
  void ready();
  void failed(const std::string& why);
  void closed(const std::shared_ptr<Connection>&, const std::string& why);
  void leave(const std::string& why);
  void back_off(const std::string& why);
  void tick();

  Caller caller_;
  // One thread runs it. It is not built with Asio's concurrency hint 1 for that case: then handlers
  // that this thread posts would run after handlers that other threads post later.
  boost::asio::io_context io_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  std::once_flag started_;
  std::thread thread_;

  tcp::resolver resolver_{io_};
  boost::asio::steady_timer patience_{io_}, ticker_{io_};
  // At most one of these two is there.
  std::shared_ptr<Attempt> attempt_;
  Open open_;
  // With those that take no more calls: they last until their streams end.
  std::vector<std::weak_ptr<Connection>> all_;
  std::deque<std::shared_ptr<CalledStream>> waiting_;  // for the attempt
  bool stopping_ = false;
  std::string why_;  // why the last connection came to nothing
  Time not_before_;
  std::chrono::milliseconds backoff_{0};
};

}  // namespace davit::host

// One [rpc.client.NAME] with transport = "connect": an HTTP/2 connection that all calls share, made
// when the first one comes and again when it is lost. It has a thread of its own.
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

  // For its calls.
  boost::asio::any_io_executor executor() { return io_.get_executor(); }
  Caller& caller() { return caller_; }
  void ended(StartedCall* call) { caller_.ended(call); }
  void log_misuse(const std::string& path, const char* what);

 private:
  using tcp = boost::asio::ip::tcp;
  using Time = std::chrono::steady_clock::time_point;
  Pairs head(const davit_rpc_start&, const Pairs& own, bool streams) const;

  // The connection's thread.
  void open(const std::shared_ptr<CalledStream>&);
  bool try_open(const std::shared_ptr<CalledStream>&);
  void connect();
  void resolved(boost::system::error_code, const tcp::resolver::results_type&);
  void connected(tcp::socket);
  void failed(const std::string& why);
  void closed(const std::string& why);
  void tick();

  Log& log_;
  Caller caller_;
  // One thread runs it. Not told so: what that thread posts would be overtaken by what others post.
  boost::asio::io_context io_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  std::once_flag started_;
  std::thread thread_;

  tcp::resolver resolver_{io_};
  boost::asio::steady_timer patience_{io_}, ticker_{io_};
  std::shared_ptr<tcp::socket> socket_;     // that is being connected
  std::shared_ptr<Connection> connection_;  // the newest; older ones end with their streams
  std::vector<std::weak_ptr<Connection>> all_;
  Http2Session* session_ = nullptr;  // of connection_, once it takes streams
  std::deque<std::shared_ptr<CalledStream>> waiting_;
  bool connecting_ = false, stopping_ = false;
  std::string why_;  // the last attempt failed
  Time not_before_;
  std::chrono::milliseconds backoff_{0};
};

}  // namespace davit::host

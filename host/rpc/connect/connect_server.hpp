// ConnectServer is one [rpc.server.NAME] with transport = "connect": Connect, gRPC and gRPC-Web on
// one port, over HTTP/1.1 and HTTP/2. Each connection lives on one of its loops. For each request
// it reads the terms and asks Admission; then it answers the request or makes a ConnectServedCall.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "../acceptor.hpp"
#include "../transport.hpp"
#include "connect_served_call.hpp"
#include "connection.hpp"
#include "json_form.hpp"
#include "loop.hpp"

namespace davit::host {

class ConnectServer final : public RpcServer {
 public:
  ConnectServer(const Core&, ServerSettings, const MethodRegistry&);
  ~ConnectServer() override;

  Result<> check() override;
  Result<> listen() override;
  std::string address() const override { return acceptor_.address(); }
  std::vector<std::string> doubts() override { return acceptor_.admission().doubts(); }
  void look_after() override;
  void read_files() override;
  Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings> tokens) override {
    return acceptor_.admission().prepare_tokens(std::move(tokens));
  }
  bool knows_region(std::string_view region) override {
    return acceptor_.admission().knows_region(region);
  }
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  // What all streams of a connection share.
  struct Caller {
    std::shared_ptr<Loop> loop;
    std::weak_ptr<Connection> on;
    std::string connection, peer, address;
    IdentityPtr user;  // only on a Unix socket
  };
  using CallerPtr = std::shared_ptr<Caller>;

  Result<> take_certificate();
  std::shared_ptr<boost::asio::ssl::context> tls();

  // On the listener's thread.
  void entered(AcceptedConnection);
  void make_room();
  // On the loop's thread.
  void serve(const std::shared_ptr<Loop>&, AcceptedConnection);
  void closed(const Caller&, const std::string& why, bool strange);
  std::unique_ptr<HttpSession> session(const CallerPtr&, std::string_view begin);
  void requested(const std::shared_ptr<HttpStream>&, const Caller&);
  void answer_or_serve(ServedRequest, const Caller&, const RequestHead&, const Method*,
                       std::string_view path);
  Result<IdentityPtr> identify(const Caller&, const RequestHead&);
  // On any thread.
  void on_each_loop(void (*work)(Loop&));
  void left(Loop&, const std::string& address);
  bool wait_until_no_connection(std::chrono::steady_clock::time_point deadline);

  Log& log_;
  const MethodRegistry& methods_;
  Acceptor acceptor_;
  const ServerSettings& settings_;
  std::mutex tls_mutex_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  JsonForms json_;
  std::chrono::steady_clock::time_point made_room_;  // used on the listener's thread
  bool stopped_ = false;
  bool authority_withdrawn_ = false;  // close the remaining connections at the next read_files

  RequestBytes requests_;
  ConnectServing serving_;
  std::vector<std::shared_ptr<Loop>> loops_;  // from listen to stop
  std::mutex mutex_;
  std::condition_variable none_;
  size_t connections_ = 0;
};

}  // namespace davit::host

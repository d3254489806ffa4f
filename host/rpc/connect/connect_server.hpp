// One [rpc.server.NAME] with transport = "connect": Connect, gRPC and gRPC-Web on one port, over
// HTTP/1.1 and HTTP/2. All connections live on one thread.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "../admission.hpp"
#include "../server_certificate.hpp"
#include "../transport.hpp"
#include "connect_served_call.hpp"
#include "connection.hpp"

namespace davit::host {

class ConnectServer final : public RpcServer {
 public:
  ConnectServer(const Core&, ServerSettings, const MethodRegistry&);
  ~ConnectServer() override;

  Result<> check() override;
  Result<> listen() override;
  std::string address() const override { return address_; }
  void look_after() override;
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

 private:
  using tcp = boost::asio::ip::tcp;
  Result<> bind();
  std::string name() const { return "rpc.server." + settings_.name; }
  Result<> load_tls();
  Result<> load_json();

  // The connections' thread.
  void accept(tcp::acceptor&);
  void came(tcp::socket);
  std::unique_ptr<HttpSession> session(const std::weak_ptr<Connection>&, const std::string& peer,
                                       std::string_view begin, bool& refused);
  void requested(const std::shared_ptr<HttpStream>&, const std::weak_ptr<Connection>&,
                 const std::string& peer);
  void answer_or_serve(ConnectServedCall::Came, const RequestHead&, const Method*,
                       std::string_view path);
  Result<IdentityPtr> identify(const RequestHead&);
  bool wait_until_no_connection(std::chrono::steady_clock::time_point deadline);

  Log& log_;
  const ServerSettings settings_;
  const MethodRegistry& methods_;
  Admission admission_;
  ServerCertificate certificate_;  // with TLS
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::unordered_map<const Method*, std::unique_ptr<JsonForm>> json_;
  std::string address_;
  bool stopped_ = false;

  ConnectServing serving_;
  std::vector<tcp::acceptor> acceptors_;
  std::unordered_set<std::shared_ptr<Connection>> connections_;  // their thread's
  std::mutex mutex_;
  std::condition_variable closed_;
  size_t connections_count_ = 0;
  bool draining_ = false;  // the connections' thread's
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  std::thread thread_;
};

}  // namespace davit::host

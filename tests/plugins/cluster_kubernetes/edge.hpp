// Servers that behave badly, and the fixture of the tests against them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "fixture.hpp"

namespace davit::cluster_kubernetes {

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket that has a free port, and refuses connections until it listens; `port` says which.
inline int bound(uint16_t& port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(s, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no socket");
  }
  port = ntohs(address.sin_port);
  return s;
}

inline int listening(int backlog, uint16_t& port) {
  const int s = bound(port);
  if (::listen(s, backlog) != 0) throw std::runtime_error("no socket that listens");
  return s;
}

// Answers every connection with the same bytes; with `answer` empty it only listens.
class Server {
 public:
  // After an answer: the connection is closed; or it is kept, and reset with the next request.
  enum class Then { close, reset_the_next };
  explicit Server(std::string answer = {}, Then then = Then::close)
      : answer_(std::move(answer)), then_(then) {
    socket_ = listening(64, port);
    begin();
  }
  // At a socket that was bound, which is this server's from now on.
  Server(int socket, std::string answer)
      : answer_(std::move(answer)), then_(Then::close), socket_(socket) {
    if (::listen(socket_, 64) != 0) throw std::runtime_error("no socket that listens");
    begin();
  }
  ~Server() {
    stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(socket_);
  }
  uint16_t port = 0;
  std::atomic<int> connections{0};

 private:
  void begin() {
    if (!answer_.empty()) thread_ = std::thread([this] { serve(); });
  }
  void serve() {
    while (!stopping_) {
      const int c = ::accept(socket_, nullptr, nullptr);
      if (c < 0) continue;
      ++connections;
      char request[4096];
      if (::recv(c, request, sizeof request, 0) > 0) {
        size_t sent = 0;
        while (sent < answer_.size()) {
          const ssize_t n = ::send(c, answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
          if (n <= 0) break;
          sent += static_cast<size_t>(n);
        }
      }
      if (then_ == Then::reset_the_next && ::recv(c, request, 1, 0) > 0) {
        const linger at_once{1, 0};
        ::setsockopt(c, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      }
      ::close(c);
    }
  }
  const std::string answer_;
  const Then then_;
  int socket_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

class Edge : public ::testing::Test {
 protected:
  Config config(uint16_t port, std::initializer_list<Config::Entry> more = {},
                const std::string& user = {}) {
    const std::string path = directory.path() + "/kubeconfig";
    std::ofstream(path)
        << "current-context: x\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:" << port
        << "'}}]\nusers: [{name: u, user: {" << user
        << "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n";
    Config c(more);
    c.set({"kubeconfig", path});
    return c;
  }
  static std::string http(const std::string& status, const std::string& body,
                          const std::string& headers = {}) {
    return "HTTP/1.1 " + status + "\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
           body;
  }
  std::string created(const Config& c) {
    testing::TestHost host("cluster", c);
    testing::Instance instance(plugin(), host);
    const auto r = instance.create();
    return r.ok() ? "ok" : r.error().message;
  }
  testing::TemporaryDirectory directory;
};

}  // namespace davit::cluster_kubernetes

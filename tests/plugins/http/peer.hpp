// A server that says what it is told to, whatever it is asked.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace davit::test {

class Peer {
 public:
  // What becomes of a connection. It has the request's head and what came of its body.
  using Serve = std::function<void(Peer& peer, int connection, const std::string& request)>;

  // Each connection is served until it is closed, one after the other.
  explicit Peer(Serve serve) : serve_(std::move(serve)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* abi = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, abi, size) != 0 || listen(socket_, 64) != 0 ||
        getsockname(socket_, abi, &size) != 0)
      throw std::runtime_error("no socket");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  // Answers every request with the same bytes, and closes the connection when `close` is true.
  static Serve always(std::string answer, bool close = true) {
    return [answer = std::move(answer), close](Peer& peer, int connection, const std::string&) {
      say(connection, answer);
      if (close) peer.end(connection);
    };
  }
  ~Peer() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      shutdown(socket_, SHUT_RDWR);
      if (connection_ >= 0) shutdown(connection_, SHUT_RDWR);
    }
    thread_.join();
    close(socket_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  static bool say(int connection, const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }
  void end(int connection) { shutdown(connection, SHUT_RDWR); }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  size_t connections() {
    const std::lock_guard lock(mutex_);
    return connections_;
  }

 private:
  void run() {
    for (;;) {
      const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      {
        const std::lock_guard lock(mutex_);
        if (over_) {
          if (connection >= 0) close(connection);
          return;
        }
        if (connection < 0) continue;
        connection_ = connection;
        ++connections_;
      }
      serve_all(connection);
      const std::lock_guard lock(mutex_);
      connection_ = -1;
      close(connection);
    }
  }
  // Requests come one after the other; a body has a Content-Length.
  void serve_all(int connection) {
    std::string bytes;
    char piece[4'096];
    for (;;) {
      const ssize_t n = recv(connection, piece, sizeof piece, 0);
      if (n <= 0) return;
      bytes.append(piece, static_cast<size_t>(n));
      const size_t head = bytes.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const size_t at = bytes.find("Content-Length: ");
      const size_t body = at > head ? 0 : std::stoul(bytes.substr(at + 16));
      if (bytes.size() < head + 4 + body) continue;
      const std::string request = bytes.substr(0, head + 4 + body);
      bytes.erase(0, request.size());
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      serve_(*this, connection, request);
    }
  }

  const Serve serve_;
  int socket_ = -1;
  uint16_t port_ = 0;
  std::mutex mutex_;
  bool over_ = false;
  int connection_ = -1;
  size_t connections_ = 0;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace davit::test

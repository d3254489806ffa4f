// Stands between libpq and a server's socket, and loses a connection on demand: at the next COMMIT,
// before the server has it or after the server has answered it. [any]
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "davit/testing/temporary.hpp"

namespace davit::test {

class Proxy {
 public:
  enum class Loses { nothing, before_commit, after_commit };

  // `server` is the folder of the server's socket.
  explicit Proxy(const std::string& server) : server_(server + "/" + socket_name) {
    listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(folder() + "/" + socket_name);
    if (bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listening_, 64) != 0)
      throw std::runtime_error("the proxy cannot listen");
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~Proxy() {
    over_ = true;
    accepting_.join();
    for (auto& one : connections_) one.join();
    close(listening_);
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  const std::string& folder() const { return folder_.path(); }
  void at_next_commit(Loses loses) { loses_ = loses; }
  int lost() const { return lost_; }

 private:
  static constexpr const char* socket_name = ".s.PGSQL.5432";
  static constexpr int look_ms = 20;

  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un out{};
    out.sun_family = AF_UNIX;
    std::strncpy(out.sun_path, path.c_str(), sizeof out.sun_path - 1);
    return out;
  }
  void accept_all() {
    while (!over_) {
      pollfd ready{listening_, POLLIN, 0};
      if (poll(&ready, 1, look_ms) <= 0) continue;
      const int client = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) connections_.emplace_back([this, client] { carry(client); });
    }
  }
  void carry(int client) {
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(server_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      while (!over_ && carry_some(client, server)) {
      }
    }
    close(client);
    close(server);
  }
  // False at the end of the connection.
  bool carry_some(int client, int server) {
    pollfd both[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(both, 2, look_ms) <= 0) return true;
    char bytes[65536];
    if (both[1].revents != 0) {
      const ssize_t n = read(server, bytes, sizeof bytes);
      return n > 0 && pass(client, bytes, static_cast<size_t>(n));
    }
    const ssize_t n = read(client, bytes, sizeof bytes);
    if (n <= 0) return false;
    const std::string_view text(bytes, static_cast<size_t>(n));
    if (text.find("; COMMIT") == std::string_view::npos)  // not "READ COMMITTED"
      return pass(server, bytes, static_cast<size_t>(n));
    const Loses loses = loses_.exchange(Loses::nothing);
    if (loses == Loses::nothing) return pass(server, bytes, static_cast<size_t>(n));
    if (loses == Loses::after_commit && pass(server, bytes, static_cast<size_t>(n)))
      (void)!read(server, bytes, sizeof bytes);  // the answer, which nobody gets
    ++lost_;
    return false;
  }
  static bool pass(int to, const char* bytes, size_t size) {
    while (size > 0) {
      const ssize_t n = send(to, bytes, size, MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }

  const testing::TemporaryDirectory folder_;
  const std::string server_;
  int listening_ = -1;
  std::atomic<bool> over_{false};
  std::atomic<Loses> loses_{Loses::nothing};
  std::atomic<int> lost_{0};
  std::list<std::thread> connections_;  // of the accepting thread, and after its end
  std::thread accepting_;
};

}  // namespace davit::test

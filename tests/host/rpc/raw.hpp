// HTTP/2 by hand, for what no gRPC library would send.
#pragma once

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

#include "rig.hpp"

namespace davit::host {

class Raw {
 public:
  enum Type : char {
    data = 0,
    headers = 1,
    reset = 3,
    settings = 4,
    ping = 6,
    goaway = 7,
    continuation = 9
  };
  enum Flag : char { none = 0, end_stream = 1, acknowledged = 1, end_headers = 4 };

  // "127.0.0.1:1234" or "unix:/path"; over TCP from the IPv4 address `from`, if it is given.
  explicit Raw(const std::string& address, const char* from = nullptr) {
    if (address.starts_with("unix:")) {
      sockaddr_un to{};
      to.sun_family = AF_UNIX;
      address.copy(to.sun_path, sizeof to.sun_path - 1, 5);
      fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
      return;
    }
    const size_t colon = address.rfind(':');
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    EXPECT_EQ(getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(),
                          &hints, &found),
              0);
    fd_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (from != nullptr) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      EXPECT_EQ(inet_pton(AF_INET, from, &own.sin_addr), 1);
      EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    }
    EXPECT_EQ(connect(fd_, found->ai_addr, found->ai_addrlen), 0);
    freeaddrinfo(found);
  }
  // The serving end of a connection that was accepted.
  explicit Raw(int accepted) : fd_(accepted) {}
  virtual ~Raw() { close(fd_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  // False when the other side has closed. Reads what comes meanwhile: neither side waits for ever.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd p = {fd_, POLLIN | POLLOUT, 0};
      if (poll(&p, 1, patience_ms) <= 0) return false;
      if ((p.revents & POLLIN) != 0 && !take()) return false;
      if ((p.revents & POLLOUT) == 0) continue;
      const ssize_t n = put(bytes);
      if (n < 0 && errno != EAGAIN) return false;
      if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // The same, and reads nothing: false as well when the other side does not take it all.
  bool send_deaf(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd p = {fd_, POLLOUT, 0};
      if (poll(&p, 1, patience_ms) <= 0 || (p.revents & (POLLERR | POLLHUP)) != 0) return false;
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN) return false;
      if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // As a client should: gRPC holds a caller to limits only once they are acknowledged, and that
  // counts only after they came.
  void greet() {
    send(preface() + frame(settings, none, 0, {}));
    until(std::string_view("\4\0\0\0\0\0", 6));
    send(frame(settings, acknowledged, 0, {}));
  }
  static std::string preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"; }
  static std::string frame(Type type, int flags, uint32_t stream, std::string_view payload) {
    const auto size = payload.size();
    std::string out = {byte(size >> 16),
                       byte(size >> 8),
                       byte(size),
                       type,
                       byte(static_cast<size_t>(flags)),
                       byte(stream >> 24),
                       byte(stream >> 16),
                       byte(stream >> 8),
                       byte(stream)};
    return out.append(payload);
  }
  // The block that begins a call; more fields can follow.
  static std::string call(const std::string& path, const std::string& token) {
    std::string out = "\x83\x86";  // :method POST, :scheme http
    out += '\x04' + text("/" + path) + '\x01' + text("localhost");
    out += field("content-type", "application/grpc") + field("te", "trailers");
    return token.empty() ? out : out + field("authorization", "Bearer " + token);
  }
  static std::string field(const std::string& name, const std::string& value) {
    return '\0' + text(name) + text(value);
  }

  // Everything that came, once it has `wanted` in it or the other side has closed.
  std::string until(std::string_view wanted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
    while (got_.find(wanted) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
      pollfd p = {fd_, POLLIN, 0};
      if (poll(&p, 1, 1'000) > 0 && !take()) break;
    }
    return got_;
  }
  // Whether the other side closes within the patience of a test.
  bool is_closed() {
    pollfd p = {fd_, POLLIN, 0};
    while (poll(&p, 1, patience_ms) > 0) {
      if (!take()) return true;
    }
    return false;
  }

 protected:
  // As send and recv that do not wait.
  virtual ssize_t put(std::string_view bytes) {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  virtual ssize_t get(char* to, size_t room) { return recv(fd_, to, room, MSG_DONTWAIT); }
  int fd() const { return fd_; }

 private:
  static constexpr int patience_ms = 90'000;
  static char byte(size_t n) { return static_cast<char>(n & 0xff); }
  // A literal of less than 16 KiB, not squeezed.
  static std::string text(const std::string& s) {
    if (s.size() < 127) return std::string(1, byte(s.size())) + s;
    std::string out = "\x7f";
    size_t rest = s.size() - 127;
    for (; rest >= 128; rest /= 128) out += byte(rest % 128 + 128);
    return out + byte(rest) + s;
  }
  bool take() {
    char buffer[16'384];
    const ssize_t n = get(buffer, sizeof buffer);
    if (n > 0) got_.append(buffer, static_cast<size_t>(n));
    return n > 0 || (n < 0 && errno == EAGAIN);
  }
  int fd_ = -1;
  std::string got_;
};

}  // namespace davit::host

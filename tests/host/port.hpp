// Port: a port of 127.0.0.1 that the kernel gives to nobody else while the object lives. It is
// bound with SO_REUSEADDR and does not listen, so a server that sets SO_REUSEADDR can listen on it.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace davit::test {

class Port {
 public:
  // 0: one that is free.
  explicit Port(uint16_t number = 0) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(number);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    const int on = 1;
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    number_ = ntohs(at.sin_port);
  }
  ~Port() { ::close(fd_); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  uint16_t number() const { return number_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(number_); }
  // From now on no server can listen on it.
  void listen() const { EXPECT_EQ(::listen(fd_, 1), 0); }

 private:
  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  uint16_t number_ = 0;
};

}  // namespace davit::test

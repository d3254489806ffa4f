#include "socket.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace davit::bench {

int connected(const std::string& server) {
  const size_t colon = server.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoul(server.substr(colon + 1))));
  if (inet_pton(AF_INET, server.substr(0, colon).c_str(), &to.sin_addr) != 1)
    throw std::runtime_error(server + " is no address and port");
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::system_error(errno, std::generic_category(), "connect");
  return fd;
}

}  // namespace davit::bench

#include "cut.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <memory>
#include <string_view>

namespace davit::host {

namespace {

// "12"; -1: no number.
int number(std::string_view text) {
  int out = -1;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string v4(const void* address, in_port_t port) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, address, text, sizeof text);
  return "ipv4:" + std::string(text) + ":" + std::to_string(ntohs(port));
}

// The other end of a socket, in gRPC's words; empty: it is none.
std::string peer_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  if (storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(storage);
    return v4(&in.sin_addr, in.sin_port);
  }
  if (storage.ss_family != AF_INET6) return {};
  const auto& in = reinterpret_cast<const sockaddr_in6&>(storage);
  // A listener on every address takes both kinds by one socket.
  if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) return v4(&in.sin6_addr.s6_addr[12], in.sin6_port);
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
  return "ipv6:%5B" + std::string(text) + "%5D:" + std::to_string(ntohs(in.sin6_port));
}

}  // namespace

bool cut(const std::string& peer) {
  constexpr std::string_view by_descriptor = "fd:";
  if (peer.starts_with(by_descriptor))
    return shutdown(number(peer.substr(by_descriptor.size())), SHUT_RDWR) == 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), &closedir);
  if (!all) return false;
  while (const dirent* entry = readdir(all.get())) {
    const int fd = number(entry->d_name);
    if (fd >= 0 && peer_of(fd) == peer) return shutdown(fd, SHUT_RDWR) == 0;
  }
  return false;
}

}  // namespace davit::host

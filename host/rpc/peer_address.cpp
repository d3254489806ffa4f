#include "peer_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace davit::host {

namespace {

constexpr std::string_view bracket = "%5B", bracket_end = "%5D";

std::string v4(const void* address, in_port_t port) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, address, text, sizeof text);
  return "ipv4:" + std::string(text) + ":" + std::to_string(ntohs(port));
}

// "2001:db8:1:2::/64". Text that is not an IPv6 address is returned unchanged.
std::string network_of(const std::string& address) {
  in6_addr bytes{};
  if (inet_pton(AF_INET6, address.c_str(), &bytes) != 1) return address;
  constexpr size_t network_bytes = 8;
  std::memset(&bytes.s6_addr[network_bytes], 0, sizeof bytes - network_bytes);
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, &bytes, text, sizeof text);
  return std::string(text) + "/64";
}

}  // namespace

std::string peer_name(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  if (storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(storage);
    return v4(&in.sin_addr, in.sin_port);
  }
  if (storage.ss_family != AF_INET6) return {};
  const auto& in = reinterpret_cast<const sockaddr_in6&>(storage);
  // A listener on [::] accepts IPv4 as well, as mapped addresses.
  if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) return v4(&in.sin6_addr.s6_addr[12], in.sin6_port);
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
  return "ipv6:" + std::string(bracket) + text + std::string(bracket_end) + ":" +
         std::to_string(ntohs(in.sin6_port));
}

std::string address_of(std::string_view peer) {
  const bool v6 = peer.starts_with("ipv6:");
  if (!v6 && !peer.starts_with("ipv4:")) return std::string(peer);
  const size_t begin = peer.find(':') + 1, port = peer.rfind(':');
  if (port < begin) return std::string(peer);
  std::string_view host = peer.substr(begin, port - begin);
  if (host.starts_with(bracket) && host.ends_with(bracket_end))
    host = host.substr(bracket.size(), host.size() - bracket.size() - bracket_end.size());
  return v6 ? network_of(std::string(host)) : std::string(host);
}

bool is_loopback(std::string_view listen) {
  const std::string_view host = listen.substr(0, listen.rfind(':'));
  return host.starts_with("127.") || host == "[::1]" || host == "localhost";
}

}  // namespace davit::host

#include "peer_address.hpp"

#include <sys/socket.h>

#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "services/host_and_port.hpp"

namespace davit::host {

namespace {

namespace ip = boost::asio::ip;

constexpr std::string_view bracket = "%5B", bracket_end = "%5D";

// "2001:db8:1:2::/64". Text that is not an IPv6 address is returned unchanged.
std::string network_of(const std::string& text) {
  constexpr unsigned short network_bits = 64;
  boost::system::error_code bad;
  const ip::address_v6 address = ip::make_address_v6(text, bad);
  return bad ? text : ip::network_v6(address, network_bits).canonical().to_string();
}

}  // namespace

std::string peer_name(int fd) {
  ip::tcp::endpoint peer;
  auto size = static_cast<socklen_t>(peer.capacity());
  if (getpeername(fd, peer.data(), &size) != 0) return {};
  const int family = peer.data()->sa_family;
  if (family != AF_INET && family != AF_INET6) return {};
  ip::address address = peer.address();
  // A listener on [::] accepts IPv4 as well, as mapped addresses.
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
  const std::string port = ":" + std::to_string(peer.port());
  if (address.is_v4()) return "ipv4:" + address.to_string() + port;
  return "ipv6:" + std::string(bracket) + address.to_string() + std::string(bracket_end) + port;
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
  const auto at = host_and_port(listen);
  return at && (at->host.starts_with("127.") || at->host == "::1" || at->host == "localhost");
}

}  // namespace davit::host

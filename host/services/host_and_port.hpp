// Reads an address as people write it: "127.0.0.1:7070", "example.com:443" or "[::1]:7070". The one
// place that divides an address; who reads it from the configuration says what is wrong with it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace davit::host {

struct HostAndPort {
  std::string host;   // never empty; an IPv6 address is without its brackets
  uint16_t port = 0;  // 0: a listener's system picks one
  // As the resolver wants it.
  std::string service() const { return std::to_string(port); }
  bool operator==(const HostAndPort&) const = default;
};

// Nothing when the text is no address with a port. An IPv6 address needs its brackets: without them
// the port could be its last part.
inline std::optional<HostAndPort> host_and_port(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  const std::string_view port = address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.empty() || host.find_first_of(":[]") != std::string_view::npos) {
    return std::nullopt;
  }
  HostAndPort out{std::string(host)};
  const char* const end = port.data() + port.size();
  const auto read = std::from_chars(port.data(), end, out.port);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return out;
}

}  // namespace davit::host

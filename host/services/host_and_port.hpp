// Divides an address as people write it: "127.0.0.1:7070", "example.com:443" or "[::1]:7070". It
// checks nothing; who reads an address from the configuration does.
#pragma once

#include <string>
#include <utility>

namespace davit::host {

// Without the brackets of an IPv6 address: those of "[::1]:7070" are "::1" and "7070". Without a
// colon both are the whole text.
inline std::pair<std::string, std::string> host_and_port(const std::string& address) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return {std::move(host), address.substr(colon + 1)};
}

}  // namespace davit::host

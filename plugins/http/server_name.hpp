// The name in a server's certificate, when it is another one than the URL's host. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace davit::http {

// How libcurl asks for a URL under another name: the URL with that name, and where it is really.
struct Renamed {
  std::string url, connect_to;
};
// `url` is https:// with a host.
inline Renamed renamed(std::string_view url, const std::string& name) {
  const size_t begin = url.find("://") + 3;
  const size_t end = std::min(url.find('/', begin), url.size());
  const std::string_view authority = url.substr(begin, end - begin);
  // The colons of an IPv6 address stand in brackets.
  const size_t bracket = authority.rfind(']'), colon = authority.rfind(':');
  const bool ported = colon != authority.npos && (bracket == authority.npos || colon > bracket);
  const std::string host(authority.substr(0, ported ? colon : authority.npos));
  const std::string port(ported ? authority.substr(colon + 1) : "443");
  return {"https://" + name + ":" + port + std::string(url.substr(end)),
          name + ":" + port + ":" + host + ":" + port};
}

}  // namespace davit::http

#include "proxy.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <davit/ascii.hpp>

namespace davit::cluster_kubernetes {
namespace {

struct Place {
  std::string scheme, host, port;
};

Place place_of(const std::string& url) {
  Place out;
  std::string rest = url;
  if (const size_t colon = rest.find("://"); colon != std::string::npos) {
    out.scheme = lower_case(rest.substr(0, colon));
    rest.erase(0, colon + 3);
  }
  rest.erase(std::min(rest.find('/'), rest.size()));
  if (const size_t at = rest.rfind('@'); at != std::string::npos) rest.erase(0, at + 1);
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string::npos && rest.find(']', colon) == std::string::npos;
  out.port = has_port ? rest.substr(colon + 1) : out.scheme == "http" ? "80" : "443";
  if (has_port) rest.erase(colon);
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  out.host = lower_case(rest);
  return out;
}

// The bytes of an address, 4 or 16; none: it is no address.
std::vector<uint8_t> address_of(const std::string& host) {
  std::array<uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1)
    return {bytes.begin(), bytes.begin() + 4};
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return {bytes.begin(), bytes.end()};
  return {};
}

bool is_loopback(const std::string& host) {
  const auto bytes = address_of(host);
  if (bytes.size() == 4) return bytes[0] == 127;
  return host == "localhost" || host == "::1";
}

// "10.0.0.0/8"
bool in_network(const std::vector<uint8_t>& address, const std::string& network) {
  const size_t slash = network.find('/');
  const auto base = address_of(network.substr(0, slash));
  size_t bits = 0;
  const char* const end = network.data() + network.size();
  const auto r = std::from_chars(network.data() + slash + 1, end, bits);
  if (r.ec != std::errc() || r.ptr != end || base.empty() || base.size() != address.size() ||
      bits > 8 * base.size()) {
    return false;
  }
  for (size_t i = 0; i < bits; ++i) {
    const int bit = 7 - static_cast<int>(i % 8);
    if (((base[i / 8] ^ address[i / 8]) >> bit & 1) != 0) return false;
  }
  return true;
}

// One entry of NO_PROXY: "*", an address, a network, a name with all below it, each perhaps with a
// port; or ".name", which means all below it only.
bool covers(std::string entry, const Place& place) {
  if (entry == "*") return true;
  const auto address = address_of(place.host);
  if (entry.find('/') != std::string::npos) return in_network(address, entry);
  if (address_of(entry).empty()) {
    const size_t colon = entry.rfind(':');
    if (colon != std::string::npos && entry.find(']', colon) == std::string::npos) {
      if (entry.substr(colon + 1) != place.port) return false;
      entry.erase(colon);
    }
    if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  }
  if (entry.starts_with("*.")) entry.erase(0, 1);
  const auto wanted = address_of(entry);
  if (!wanted.empty()) return wanted == address;
  if (entry.starts_with('.')) return place.host.ends_with(entry);
  return place.host == entry || place.host.ends_with("." + entry);
}

bool excepted(const std::string& no_proxy, const Place& place) {
  for (size_t from = 0; from <= no_proxy.size();) {
    const size_t comma = std::min(no_proxy.find(',', from), no_proxy.size());
    std::string entry = lower_case(no_proxy.substr(from, comma - from));
    std::erase_if(entry, [](char c) { return c == ' ' || c == '\t'; });
    if (!entry.empty() && covers(std::move(entry), place)) return true;
    from = comma + 1;
  }
  return false;
}

// libcurl's socks5:// asks our own name server. Go's asks the proxy's, and so it must be: the name
// of a private API server is mostly known there only.
std::string for_libcurl(const std::string& url) {
  return url.starts_with("socks5://") ? "socks5h" + url.substr(6) : url;
}

}  // namespace

std::optional<std::string> proxy_fault(const std::string& url) {
  if (url.empty()) return std::nullopt;
  const bool odd = std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c == 127; });
  const Place place = place_of(url);
  const bool known = place.scheme == "http" || place.scheme == "https" ||
                     place.scheme == "socks5" || place.scheme == "socks5h";
  if (odd || !known || place.host.empty()) return "must be a http, https or socks5 URL";
  return std::nullopt;
}

std::string proxy_for(const std::string& proxy_url, const std::string& url,
                      const Environment& environment) {
  if (!proxy_url.empty()) return for_libcurl(proxy_url);
  const auto either = [&environment](const char* upper, const char* lower) {
    const std::string value = environment(upper);
    return value.empty() ? environment(lower) : value;
  };
  const Place place = place_of(url);
  if (is_loopback(place.host)) return {};
  std::string out = place.scheme == "http" ? either("HTTP_PROXY", "http_proxy")
                                           : either("HTTPS_PROXY", "https_proxy");
  if (out.empty() || excepted(either("NO_PROXY", "no_proxy"), place)) return {};
  if (out.find("://") == std::string::npos) out = "http://" + out;
  return for_libcurl(out);
}

}  // namespace davit::cluster_kubernetes

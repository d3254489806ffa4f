#include "ip_range.hpp"

#include <arpa/inet.h>

#include <charconv>

#include <davit/kubernetes/names.hpp>

namespace davit::cluster_record {
namespace {

// The number of bits of an address; 0: it is none.
int bits_of(const std::string& address) {
  in6_addr parsed;
  if (inet_pton(AF_INET, address.c_str(), &parsed) == 1) return 32;
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1 ? 128 : 0;
}

bool is_range(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos || text.find('\0') != text.npos) return false;
  const std::string_view prefix = text.substr(slash + 1);
  int length = -1;
  const auto read = std::from_chars(prefix.data(), prefix.data() + prefix.size(), length);
  const bool plain = read.ec == std::errc{} && read.ptr == prefix.data() + prefix.size() &&
                     prefix == std::to_string(length);
  const int bits = bits_of(std::string(text.substr(0, slash)));
  return plain && bits != 0 && length >= 0 && length <= bits;
}

}  // namespace

std::optional<std::string> ip_range_fault(std::string_view text) {
  if (is_range(text)) return std::nullopt;
  return kubernetes::names::refused("a range of addresses, such as \"10.96.0.0/12\"", text);
}

}  // namespace davit::cluster_record

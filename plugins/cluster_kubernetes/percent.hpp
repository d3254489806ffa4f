// Percent-encoding (RFC 3986, 2.1). What is plain differs: in URLs and forms, in header names.
#pragma once

#include <string_view>

namespace davit::cluster_kubernetes {

inline bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What URLs and forms have as it is (RFC 3986, 2.3).
inline bool is_unreserved(char c) {
  return is_alphanumeric(c) || std::string_view("-._~").find(c) != std::string_view::npos;
}

// Appends the text to a std::string or to a Wiped; what is not `plain` as "%2F".
template <class Out, class Plain>
void append_escaped(Out& out, std::string_view text, Plain plain) {
  static constexpr char hex[] = "0123456789ABCDEF";
  for (const char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const char escape[] = {'%', hex[byte >> 4], hex[byte & 15]};
    out.append(plain(c) ? std::string_view(&c, 1) : std::string_view(escape, sizeof escape));
  }
}

}  // namespace davit::cluster_kubernetes

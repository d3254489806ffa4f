#include "impersonation.hpp"

#include <algorithm>

#include "http/header_text.hpp"

namespace davit::cluster_kubernetes {
namespace {

// The key of an extra is a part of a header's name, so what no name may have is escaped (RFC 7230,
// and "%" itself).
std::string escaped_key(std::string_view key) {
  static constexpr std::string_view others = "!#$&'*+-.^_`|~";
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || others.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto u = static_cast<unsigned char>(c);
      out += {'%', hex[u >> 4], hex[u & 15]};
    }
  }
  return out;
}

}  // namespace

Pairs headers_of(const Impersonation& as) {
  if (as.user.empty()) return {};
  Pairs out{{"Impersonate-User", as.user}};
  if (!as.uid.empty()) out.emplace_back("Impersonate-Uid", as.uid);
  for (const auto& group : as.groups) out.emplace_back("Impersonate-Group", group);
  for (const auto& [key, value] : as.extra)
    out.emplace_back("Impersonate-Extra-" + escaped_key(key), value);
  return out;
}

std::optional<std::string> impersonation_fault(const Impersonation& as) {
  if (as == Impersonation()) return std::nullopt;
  if (as.user.empty()) return "a uid, groups and extras need a user";
  const Pairs headers = headers_of(as);
  const bool fine = std::all_of(headers.begin(), headers.end(), [](const auto& header) {
    return !header.second.empty() && http::sendable(header.second);
  });
  if (!fine) return "it has a value that is empty or has control characters";
  return std::nullopt;
}

}  // namespace davit::cluster_kubernetes

#include "impersonation.hpp"

#include <algorithm>

#include "http/header_text.hpp"
#include "percent.hpp"

namespace davit::cluster_kubernetes {
namespace {

// The key of an extra is a part of a header's name, so what no name may have is escaped (RFC 7230,
// and "%" itself).
std::string escaped_key(std::string_view key) {
  static constexpr std::string_view others = "!#$&'*+-.^_`|~";
  std::string out;
  append_escaped(out, key, [](char c) {
    return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
  });
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

#include "method_headers.hpp"

#include <algorithm>
#include <array>

namespace davit::host {

namespace {

bool is_for_the_method(std::string_view header) {
  static constexpr std::array<std::string_view, 12> ours = {
      "authorization", "user-agent", "accept-encoding",   "accept", "host",   "te",
      "connection",    "expect",     "transfer-encoding", "origin", "cookie", "upgrade"};
  return std::find(ours.begin(), ours.end(), header) == ours.end() &&
         !header.starts_with("grpc-") && !header.starts_with("connect-") &&
         !header.starts_with("content-");
}

}  // namespace

Pairs headers_for_the_method(Pairs headers) {
  Pairs out;
  for (auto& header : headers) {
    const std::string& name = header.first;
    if (!is_for_the_method(name)) continue;
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const auto& other) { return other.first == name; });
    if (same == out.end()) {
      out.push_back(std::move(header));
    } else if (!name.ends_with("-bin")) {
      same->second.append(", ").append(header.second);
    }
  }
  out.shrink_to_fit();
  return out;
}

}  // namespace davit::host

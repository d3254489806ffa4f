// The page token of List and the resume token of Maintain: the cursor to continue from, as
// "incarnation:version". Opaque to callers.
#pragma once

#include <charconv>

#include <davit/records.hpp>

namespace davit::desired {

inline std::string to_token(Cursor at) {
  return std::to_string(at.incarnation) + ":" + std::to_string(at.version);
}

// An empty token means the start.
inline Result<Cursor> from_token(std::string_view token) {
  Cursor out;
  if (token.empty()) return out;
  const char* end = token.data() + token.size();
  auto first = std::from_chars(token.data(), end, out.incarnation);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    auto second = std::from_chars(first.ptr + 1, end, out.version);
    if (second.ec == std::errc() && second.ptr == end) return out;
  }
  return Error{Code::invalid_argument, "is not one that a list gave", "page_token"};
}

}  // namespace davit::desired

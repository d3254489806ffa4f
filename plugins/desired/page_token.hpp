// The page token of List and the resume token of Maintain: the cursor to continue from, as
// "incarnation:version". Opaque to callers.
#pragma once

#include <charconv>

#include <davit/records.hpp>

namespace davit::desired {

inline std::string to_token(Cursor at) {
  return to_string(at.incarnation) + ":" + to_string(at.version);
}

// An empty token means the start.
inline Result<Cursor> from_token(std::string_view token) {
  if (token.empty()) return Cursor();
  uint64_t incarnation = 0, version = 0;
  const char* end = token.data() + token.size();
  auto first = std::from_chars(token.data(), end, incarnation);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    auto second = std::from_chars(first.ptr + 1, end, version);
    if (second.ec == std::errc() && second.ptr == end)
      return Cursor{Incarnation(incarnation), Version(version)};
  }
  return Error{Code::invalid_argument, "is not a token of an earlier answer", "page_token"};
}

}  // namespace davit::desired

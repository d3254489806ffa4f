// Lines of HTTP headers, as text. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <davit/ascii.hpp>

namespace davit::http {

// False: it has characters that would end a header or begin another one.
inline bool sendable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 127; });
}

// The name in lower case and the value of "Name: value\r\n". Nothing: the line is no header.
inline std::optional<std::pair<std::string, std::string>> parse_header(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\r') || value.ends_with('\n'))
    value.remove_suffix(1);
  return std::pair(lower_case(line.substr(0, colon)), std::string(value));
}

}  // namespace davit::http

// Walks through a text that may not be UTF-8, character by character. The log and the ends of calls
// write such texts; what is no character they replace with U+FFFD.
#pragma once

#include <string_view>

#include <davit/utf8.hpp>

namespace davit::host {

// U+FFFD, which stands for bytes that are not UTF-8.
inline constexpr std::string_view replacement_character = "\xef\xbf\xbd";

// The length of the UTF-8 character at the start of the text; 0: the text does not start with one.
inline size_t character_length(std::string_view s) {
  constexpr size_t longest = 4;
  for (size_t length = 1; length <= longest && length <= s.size(); ++length) {
    if (valid_utf8(s.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace davit::host

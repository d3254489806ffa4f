// Checks and cuts texts that come from outside, so that they are valid in a protobuf string, in
// JSON and in a line of a log.
#pragma once

#include <string>
#include <string_view>

namespace davit {

inline bool valid_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto byte = [&](size_t k) {
      return i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0u;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xc0) != 0x80) return false;
    }
    const unsigned second = byte(1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
      return false;  // an overlong form, a surrogate, or beyond U+10FFFF
    }
    i += length;
  }
  return true;
}

// The first characters of a text, at most `bytes_max` bytes. It never cuts within a character: half
// a character would make the message that contains it invalid.
inline std::string_view cut_utf8(std::string_view s, size_t bytes_max) {
  if (s.size() <= bytes_max) return s;
  while (bytes_max > 0 && (s[bytes_max] & 0xc0) == 0x80) --bytes_max;
  return s.substr(0, bytes_max);
}

// The same for people: a text that was cut ends in "...", beyond `bytes_max`.
inline std::string shortened(std::string_view s, size_t bytes_max) {
  std::string out(cut_utf8(s, bytes_max));
  if (s.size() > bytes_max) out += "...";
  return out;
}

}  // namespace davit

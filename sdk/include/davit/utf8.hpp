// Texts that come from others: whether one is what a protobuf string, a JSON text and a line of a
// log may hold.
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
      return false;  // written longer than need be, a surrogate, or beyond the last character
    }
    i += length;
  }
  return true;
}

// At most so many bytes of a text, not within a character: half of one spoils what it is put into.
inline std::string_view cut_utf8(std::string_view s, size_t bytes_max) {
  if (s.size() <= bytes_max) return s;
  while (bytes_max > 0 && (s[bytes_max] & 0xc0) == 0x80) --bytes_max;
  return s.substr(0, bytes_max);
}

// The same for people: what was cut shows that it was.
inline std::string shortened(std::string_view s, size_t bytes_max) {
  std::string out(cut_utf8(s, bytes_max));
  if (s.size() > bytes_max) out += "...";
  return out;
}

}  // namespace davit

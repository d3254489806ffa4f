// Base64 that is a secret: it is read into memory that is wiped. RFC 4648, standard alphabet, with
// padding, as Go writes it.
#pragma once

#include <cstdint>
#include <string_view>

#include "davit/wiped.hpp"

namespace davit::secret_store {

// Appends the bytes to `out`. False: the text is no base64; `out` may have a part of it.
inline bool append_from_base64(Wiped& out, std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const auto value_of = [](char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  };
  while (!text.empty()) {
    size_t letters = 4;
    if (text.size() == 4 && text[3] == '=') letters = text[2] == '=' ? 2 : 3;
    uint32_t group = 0;
    for (size_t n = 0; n < 4; ++n) {
      const int value = n < letters ? value_of(text[n]) : 0;
      if (value < 0) return false;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    char bytes[3] = {static_cast<char>(group >> 16), static_cast<char>(group >> 8),
                     static_cast<char>(group)};
    out.append({bytes, letters - 1});
    explicit_bzero(bytes, sizeof bytes);
    text.remove_prefix(4);
  }
  return true;
}

}  // namespace davit::secret_store

// Base64 (RFC 4648) as proto3 JSON defines it. It is written in the standard alphabet with padding,
// and read in both alphabets, with or without padding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace davit {

// Appends the text to `out`, four letters at a time: a std::string, or a Wiped.
template <class Out>
void append_base64(Out& out, std::string_view bytes) {
  constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    char letters[4];
    for (size_t k = 0; k < 4; ++k) letters[k] = k <= n ? alphabet[group >> (18 - 6 * k) & 63] : '=';
    out.append(std::string_view(letters, sizeof letters));
  }
}

inline std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  append_base64(out, bytes);
  return out;
}

// Empty: the text is not base64. White space is not.
inline std::optional<std::string> from_base64(std::string_view text) {
  const auto value_of = [](char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    return c == '/' || c == '_' ? 63 : -1;
  };
  size_t padding = 0;
  while (!text.empty() && text.back() == '=' && padding < 2) {
    text.remove_suffix(1);
    ++padding;
  }
  if (text.size() % 4 == 1 || (padding > 0 && (text.size() + padding) % 4 != 0))
    return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int v = value_of(c);
    if (v < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(v);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 255);
  }
  // The bits left over must be zero; otherwise two texts would mean the same bytes.
  if ((bits & ((1u << held) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace davit

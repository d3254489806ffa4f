// Base64 as in RFC 4648, with padding, for secrets that a pod gets as a variable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace davit::deployment {

inline std::string base64(std::string_view in) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((in.size() + 2) / 3 * 4);
  for (size_t i = 0; i < in.size(); i += 3) {
    const size_t left = in.size() - i;
    uint32_t bits = static_cast<uint32_t>(static_cast<unsigned char>(in[i])) << 16;
    if (left > 1) bits |= static_cast<uint32_t>(static_cast<unsigned char>(in[i + 1])) << 8;
    if (left > 2) bits |= static_cast<uint32_t>(static_cast<unsigned char>(in[i + 2]));
    out += digits[bits >> 18 & 63];
    out += digits[bits >> 12 & 63];
    out += left > 1 ? digits[bits >> 6 & 63] : '=';
    out += left > 2 ? digits[bits & 63] : '=';
  }
  return out;
}

}  // namespace davit::deployment

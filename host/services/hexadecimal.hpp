// Bytes as text.
#pragma once

#include <span>
#include <string>

namespace davit::host {

// Two digits for each byte, in lower case.
inline std::string hexadecimal(std::span<const unsigned char> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) out += {digits[byte >> 4], digits[byte & 15]};
  return out;
}

}  // namespace davit::host

// A short name for a text, the same on every machine. It tells the few forms of one thing apart,
// such as the pod templates of one record. It is no protection against forgery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace davit {

// The 64-bit FNV-1a hash, as 16 hexadecimal digits.
inline std::string short_hash(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) out[i] = "0123456789abcdef"[hash & 15];
  return out;
}

}  // namespace davit

#include "names.hpp"

#include <algorithm>
#include <cstdio>

namespace davit::cluster_memory {
namespace {

bool lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool alnum(char c) {
  return lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

// Letters, digits, '-', '_' and '.'; begins and ends with a letter or a digit.
bool qualified(std::string_view s) {
  if (s.empty() || s.size() > 63 || !alnum(s.front()) || !alnum(s.back())) return false;
  return std::all_of(s.begin(), s.end(),
                     [](char c) { return alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool label_form(std::string_view s) {
  if (s.empty() || !lower_alnum(s.front()) || !lower_alnum(s.back())) return false;
  return std::all_of(s.begin(), s.end(), [](char c) { return lower_alnum(c) || c == '-'; });
}

}  // namespace

bool valid_label_name(std::string_view name) {
  return name.size() <= 63 && label_form(name);
}

bool valid_subdomain(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  while (true) {
    const size_t dot = name.find('.');
    if (!label_form(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool valid_label_key(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return qualified(key);
  return valid_subdomain(key.substr(0, slash)) && qualified(key.substr(slash + 1));
}

bool valid_label_value(std::string_view value) {
  return value.empty() || qualified(value);
}

std::string make_uid(const Random& random) {
  const uint64_t a = random();
  const uint64_t b = random();
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-%04x-%012llx", static_cast<unsigned>(a >> 32),
                static_cast<unsigned>(a >> 16 & 0xffff), static_cast<unsigned>(a & 0xfff),
                static_cast<unsigned>(0x8000 | (b >> 48 & 0x3fff)),
                static_cast<unsigned long long>(b & 0xffffffffffff));
  return text;
}

std::string make_suffix(const Random& random) {
  static constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  uint64_t bits = random();
  for (int i = 0; i < 5; ++i, bits /= alphabet.size()) out += alphabet[bits % alphabet.size()];
  return out;
}

}  // namespace davit::cluster_memory

// Texts in ASCII, such as names of headers and of objects.
#pragma once

#include <string>
#include <string_view>

namespace davit {

// With a to z for A to Z, in every locale. Other bytes stay.
inline std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The text with a lower-case first letter, as our own messages begin. Abbreviations ("SSL ...")
// stay.
inline std::string lower_first(std::string s) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (!s.empty() && is_upper(s[0]) && (s.size() == 1 || !is_upper(s[1])))
    s[0] = static_cast<char>(s[0] - 'A' + 'a');
  return s;
}

}  // namespace davit

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

}  // namespace davit

#include "one_line.hpp"

#include <algorithm>

#include <davit/utf8.hpp>

namespace davit::process {

std::string one_line(std::string_view text, size_t bytes_max) {
  std::string out;
  bool escape = false;  // in a sequence that colours a terminal
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // U+0080 to U+009F, which some terminals obey.
    const bool control = c == '\xc2' && i + 1 < text.size() && (text[i + 1] & 0xe0) == 0x80;
    if (control) {
      ++i;
      out += ' ';
    } else if (c == '\x1b') {
      escape = true;
    } else if (escape) {
      escape = !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
    } else if (static_cast<unsigned char>(c) > ' ' && c != 127) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  if (out.size() > bytes_max) {
    out.erase(0, out.size() - bytes_max);
    while (!out.empty() && (out.front() & 0xc0) == 0x80) out.erase(0, 1);  // half a character
    out.insert(0, "...");
  }
  if (!valid_utf8(out))
    std::replace_if(
        out.begin(), out.end(), [](char c) { return (c & 0x80) != 0; }, '?');
  return out;
}

}  // namespace davit::process

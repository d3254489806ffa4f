// Takes texts apart. All results are views of the given text.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace davit::host {

// Removes the prefix from the text's beginning. False: it is not there.
inline bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The lines without their ends. The last one needs none.
inline std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace davit::host

// What HTTP asks of header values: ASCII without regard to case, lists, white space around them.
#pragma once

#include <string>
#include <string_view>

namespace davit::host {

inline std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Without the spaces and tabs around it.
inline std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

// Takes what stands before the separator off the list, trimmed. The list may become empty.
inline std::string_view take_element(std::string_view& list, char separator) {
  const size_t end = list.find(separator);
  const std::string_view element = list.substr(0, end);
  list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  return trimmed(element);
}

}  // namespace davit::host

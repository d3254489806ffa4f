// Text functions for HTTP header values: lists and white space; lower case is davit/ascii.hpp.
#pragma once

#include <string>
#include <string_view>

#include <davit/ascii.hpp>

namespace davit::host {

// Without spaces and tabs at either end.
inline std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

// Removes the first element from the list and returns it, trimmed.
inline std::string_view take_element(std::string_view& list, char separator) {
  const size_t end = list.find(separator);
  const std::string_view element = list.substr(0, end);
  list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  return trimmed(element);
}

}  // namespace davit::host

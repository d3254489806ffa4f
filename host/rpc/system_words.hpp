// The system's message for an errno, in lower case like all messages of this project.
#pragma once

#include <cstring>
#include <string>

namespace davit::host {

inline std::string system_words(int error) {
  std::string text = std::strerror(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] + ('a' - 'A'));
  return text;
}

}  // namespace davit::host

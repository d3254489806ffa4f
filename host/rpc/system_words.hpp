// The system's message for an errno, in lower case like all messages of this project.
#pragma once

#include <cstring>
#include <string>

#include <davit/ascii.hpp>

namespace davit::host {

inline std::string system_words(int error) {
  return lower_first(std::strerror(error));
}

}  // namespace davit::host

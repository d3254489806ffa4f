#include "picture.hpp"

#include <charconv>

namespace davit::controller {

uint64_t number_of(std::string_view text) {
  uint64_t out = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), out);
  return r.ec == std::errc{} && r.ptr == text.data() + text.size() ? out : 0;
}

bool not_older(std::string_view a, std::string_view b) {
  const uint64_t x = number_of(a), y = number_of(b);
  return x == 0 || y == 0 || x >= y;
}

}  // namespace davit::controller

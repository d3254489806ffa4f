// An input for a target that has several entries: its first byte chooses a line of the target's
// choices.txt, and the rest is for that entry. The seeds are laid out the same way by seeds.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace davit::fuzz {

struct Choice {
  std::string_view name;
  std::string_view rest;
};

inline std::string_view whole(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

#ifdef FUZZ_CHOICES
inline Choice choose(const uint8_t* data, size_t size) {
  static const auto names = [] {
    std::vector<std::string_view> out;
    std::string_view all = FUZZ_CHOICES;
    while (!all.empty()) {
      const size_t end = all.find('|');
      out.push_back(all.substr(0, end));
      all.remove_prefix(end == std::string_view::npos ? all.size() : end + 1);
    }
    return out;
  }();
  const std::string_view input = whole(data, size);
  if (input.empty()) return {names.front(), {}};
  return {names[static_cast<uint8_t>(input.front()) % names.size()], input.substr(1)};
}
#endif

}  // namespace davit::fuzz

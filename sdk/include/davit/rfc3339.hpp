// A time as people and programs read it: "2026-11-24T20:00:00.000Z".
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace davit {

inline std::string rfc3339(int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 40> out{};
  const size_t length = std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(out.data() + length, out.size() - length, ".%03dZ",
                static_cast<int>(unix_ms % 1000));
  return out.data();
}

}  // namespace davit

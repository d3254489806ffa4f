// Durations as people write them on a command line.
#pragma once

#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

namespace davit::host {

// "500ms", "60s", "5m", "1h", "7d"; a bare number is seconds. Up to a year.
inline std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  int64_t factor = 0;
  if (unit == "ms") factor = 1;
  if (unit == "s" || unit.empty()) factor = 1000;
  if (unit == "m") factor = 60'000;
  if (unit == "h") factor = 3'600'000;
  if (unit == "d") factor = 24 * 3'600'000LL;
  constexpr int64_t year_ms = 366 * 24 * 3'600'000LL;
  if (factor == 0 || value > year_ms / factor) return std::nullopt;
  return std::chrono::milliseconds(value * factor);
}

}  // namespace davit::host

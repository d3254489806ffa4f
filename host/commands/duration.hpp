// Reads and prints durations of the command line.
#pragma once

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace davit::host {

// Reads "500ms", "60s", "5m", "1h" or "7d", up to a year. A number without a unit is seconds.
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

// Prints a duration that parse_duration can read, in the largest unit that needs no fraction:
// "90s", "2m".
inline std::string to_text(std::chrono::milliseconds duration) {
  const int64_t ms = duration.count();
  if (ms % 1000 != 0) return std::to_string(ms) + "ms";
  const int64_t s = ms / 1000;
  if (s == 0 || s % 60 != 0) return std::to_string(s) + "s";
  if (s % 3600 != 0) return std::to_string(s / 60) + "m";
  return s % 86'400 != 0 ? std::to_string(s / 3600) + "h" : std::to_string(s / 86'400) + "d";
}

}  // namespace davit::host

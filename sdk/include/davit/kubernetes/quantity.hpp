// Kubernetes quantities of CPU and memory, for kinds. They are printed in the canonical form of the
// API server, so that an object reads back as it was sent and a comparison sees no false drift.
// They are read in any form.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace davit::kubernetes {
namespace quantity {

// Divides by `base` as long as no remainder is left, and takes the next suffix each time.
template <size_t N>
std::string canonical(int64_t amount, int64_t base, const std::array<const char*, N>& suffixes) {
  if (amount == 0) return "0";
  size_t step = 0;
  while (amount % base == 0 && step + 1 < N) {
    amount /= base;
    ++step;
  }
  return std::to_string(amount) + suffixes[step];
}

inline constexpr std::array<std::pair<std::string_view, double>, 15> scales = {{
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"", 1},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"Ki", 1024.0},
    {"Mi", 1048576.0},
    {"Gi", 1073741824.0},
    {"Ti", 1099511627776.0},
    {"Pi", 1125899906842624.0},
    {"Ei", 1152921504606846976.0},
}};

// The amount in the base unit, or nothing. The 64 bits of a long double's mantissa are exact for
// every amount that a node can have.
inline std::optional<long double> parse(std::string_view given) {
  const std::string text(given);
  // strtold accepts white space, hexadecimal, "inf" and "nan"; Kubernetes does not.
  const bool decimal = !text.empty() && (std::string_view("0123456789.+").find(text.front()) !=
                                         std::string_view::npos);
  if (!decimal || text.find_first_of("xX") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const long double number = std::strtold(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view suffix =
      std::string_view(text).substr(static_cast<size_t>(end - text.c_str()));
  if (suffix == "E") return number * 1e18L;
  for (const auto& [name, scale] : scales) {
    if (suffix == name) return number * static_cast<long double>(scale);
  }
  return std::nullopt;
}

inline constexpr long double int64_top = 9.2e18L;

}  // namespace quantity

// 1000 -> "1", 1500 -> "1500m"
inline std::string cpu_quantity(int64_t millicores) {
  return quantity::canonical(millicores, 1000,
                             std::array<const char*, 6>{"m", "", "k", "M", "G", "T"});
}

// 1024 -> "1Gi", 1536 -> "1536Mi"
inline std::string memory_quantity(int64_t mib) {
  return quantity::canonical(mib, 1024, std::array<const char*, 5>{"Mi", "Gi", "Ti", "Pi", "Ei"});
}

// Rounded up. Nothing when the text is not a quantity, is negative or does not fit.
inline std::optional<int64_t> millicores_of(std::string_view text) {
  const auto cores = quantity::parse(text);
  // 1e-3 has no exact representation, so a near miss is rounded to the whole number first.
  if (!cores || *cores * 1000 > quantity::int64_top) return std::nullopt;
  const long double millis = *cores * 1000;
  const long double near = std::round(millis);
  return static_cast<int64_t>(std::fabs(millis - near) < 1e-6L ? near : std::ceil(millis));
}

// Rounded down, as Krane does. Nothing when the text is not a quantity, is negative or does not
// fit.
inline std::optional<int64_t> mib_of(std::string_view text) {
  const auto bytes = quantity::parse(text);
  if (!bytes || *bytes > quantity::int64_top) return std::nullopt;
  return static_cast<int64_t>(*bytes / 1048576);
}

}  // namespace davit::kubernetes

#include <charconv>

#include "json.hpp"

namespace davit::host {

bool decimal(std::string_view text, Decimal& out) {
  out = {};
  if (!text.empty() && text.front() == '-') {
    out.negative = true;
    text.remove_prefix(1);
  }
  const size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (!exponent.empty() && exponent.front() == '+') exponent.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
    // Far outside of every double, far inside of int64.
    constexpr int64_t exponent_max = 1'000'000'000;
    const bool usable = error == std::errc() && end == exponent.data() + exponent.size() &&
                        out.exponent <= exponent_max && out.exponent >= -exponent_max;
    if (!usable) return false;
    text = text.substr(0, e);
  }
  for (size_t i = 0, point = text.find('.'); i < text.size(); ++i) {
    if (i == point) continue;
    out.digits += text[i];
    if (i > point) --out.exponent;
  }
  const size_t first = out.digits.find_first_not_of('0');
  if (first == std::string::npos) {
    out = {};  // zero, even when written as -0.0e5
    return true;
  }
  out.digits.erase(0, first);
  const size_t last = out.digits.find_last_not_of('0');
  out.exponent += static_cast<int64_t>(out.digits.size() - last - 1);
  out.digits.erase(last + 1);
  return true;
}

}  // namespace davit::host

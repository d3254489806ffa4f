#include "timeout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "request_head.hpp"

namespace davit::host {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr size_t grpc_digits_max = 8;
constexpr int64_t grpc_count_max = 99'999'999;
constexpr size_t connect_digits_max = 10;

struct Unit {
  char letter;
  nanoseconds length;
};
constexpr std::array<Unit, 6> units = {{{'n', nanoseconds(1)},
                                        {'u', std::chrono::microseconds(1)},
                                        {'m', milliseconds(1)},
                                        {'S', std::chrono::seconds(1)},
                                        {'M', std::chrono::minutes(1)},
                                        {'H', std::chrono::hours(1)}}};

std::optional<int64_t> read_digits(std::string_view s, size_t digits_max) {
  if (s.empty() || s.size() > digits_max) return std::nullopt;
  int64_t n = 0;
  for (const char c : s) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  return n;
}

int64_t divided_up(int64_t n, int64_t by) {
  return n / by + (n % by == 0 ? 0 : 1);
}

}  // namespace

std::optional<milliseconds> read_connect_timeout(std::string_view s) {
  const auto n = read_digits(s, connect_digits_max);
  if (!n) return std::nullopt;
  return milliseconds(*n);  // four months at most
}

std::optional<milliseconds> read_grpc_timeout(std::string_view s) {
  if (s.empty()) return std::nullopt;
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.letter == s.back(); });
  const auto n = read_digits(s.substr(0, s.size() - 1), grpc_digits_max);
  if (unit == units.end() || !n) return std::nullopt;
  constexpr nanoseconds max = timeout_max;
  if (*n > max / unit->length) return timeout_max;
  return milliseconds(
      divided_up((*n * unit->length).count(), nanoseconds(milliseconds(1)).count()));
}

std::string grpc_timeout(nanoseconds timeout) {
  // A timeout that has passed is sent as the shortest one: none would mean for ever.
  const int64_t left = std::max<int64_t>(timeout.count(), 1);
  size_t unit = 0;
  int64_t count = left;
  while (count > grpc_count_max) count = divided_up(left, units[++unit].length.count());
  // Write it in the largest unit that gives the same time.
  while (unit + 1 < units.size()) {
    const int64_t ratio = units[unit + 1].length / units[unit].length;
    if (count % ratio != 0) break;
    count /= ratio;
    ++unit;
  }
  return std::to_string(count) + units[unit].letter;
}

}  // namespace davit::host

#include "times.hpp"

#include <charconv>
#include <chrono>

#include <davit/rfc3339.hpp>

namespace davit::kubernetes {
namespace {

// The number in `digits` digits at `at`; -1 when there is none.
int number(std::string_view text, size_t at, size_t digits) {
  int out = -1;
  const auto part = text.substr(at, digits);
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out);
  return error == std::errc{} && end == part.data() + digits ? out : -1;
}

// What follows the seconds. Only "Z" and "+hh:mm" or "-hh:mm" are zones.
std::optional<std::chrono::minutes> offset_of(std::string_view zone) {
  using std::chrono::minutes;
  if (zone == "Z") return minutes(0);
  if (zone.size() != 6 || zone[3] != ':' || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const int hours = number(zone, 1, 2), rest = number(zone, 4, 2);
  if (hours < 0 || rest < 0) return std::nullopt;
  return minutes((hours * 60 + rest) * (zone[0] == '-' ? -1 : 1));
}

}  // namespace

std::optional<int64_t> unix_ms_of(std::string_view text) {
  using namespace std::chrono;
  constexpr size_t seconds_end = 19;  // the length of "2026-01-01T00:00:00"
  if (text.size() <= seconds_end || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const int hour = number(text, 11, 2), minute = number(text, 14, 2), second = number(text, 17, 2);
  const int year_number = number(text, 0, 4), month_number = number(text, 5, 2);
  const int day_number = number(text, 8, 2);
  if (year_number < 0 || month_number < 0 || day_number < 0 || hour < 0 || minute < 0 || second < 0)
    return std::nullopt;
  const year_month_day date{year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  std::string_view zone = text.substr(seconds_end);
  if (zone.front() == '.')  // a fraction of a second, which is ignored
    zone.remove_prefix(std::min(zone.find_first_not_of("0123456789", 1), zone.size()));
  const auto offset = offset_of(zone);
  if (!offset) return std::nullopt;
  const auto time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - *offset;
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::string time_text(int64_t unix_ms) {
  const std::string text = rfc3339(unix_ms);
  return text.substr(0, text.rfind('.')) + "Z";
}

}  // namespace davit::kubernetes

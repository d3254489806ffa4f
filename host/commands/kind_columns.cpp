#include "kind_columns.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace davit::host {

namespace {

namespace json = boost::json;

constexpr const char* nothing = "-";

// RFC 3339, or a number of Unix milliseconds.
std::optional<int64_t> unix_ms_of(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
    return text.size() < 19 ? std::optional<int64_t>(std::stoll(text)) : std::nullopt;
  std::tm t{};
  int end = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2d-%2d%*[Tt ]%2d:%2d:%2d%n", &t.tm_year,
                               &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec, &end);
  if (read != 6 || end == 0) return std::nullopt;
  size_t at = static_cast<size_t>(end);
  if (at < text.size() && text[at] == '.') at = text.find_first_not_of("0123456789", at + 1);
  if (at >= text.size()) return std::nullopt;
  const std::string zone = text.substr(at);
  char sign[2] = "";
  int hours = 0;
  int minutes = 0;
  const bool utc = zone == "Z" || zone == "z";
  if (!utc && std::sscanf(zone.c_str(), "%1[+-]%2d:%2d", sign, &hours, &minutes) != 3)
    return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  const int64_t ahead = int64_t{hours * 60 + minutes} * 60 * (*sign == '-' ? -1 : 1);
  return (static_cast<int64_t>(timegm(&t)) - ahead) * 1000;
}

std::string plain(const json::value& value) {
  if (value.is_null()) return nothing;
  if (const auto* text = value.if_string()) return {text->data(), text->size()};
  if (const auto* number = value.if_double()) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.15g", *number);
    return digits;
  }
  return json::serialize(value);
}

std::string shown(const json::value& value) {
  const auto* list = value.if_array();
  const bool has_structure =
      list == nullptr || std::any_of(list->begin(), list->end(),
                                     [](const json::value& v) { return v.is_structured(); });
  if (has_structure) return plain(value);
  std::string out;
  for (const json::value& each : *list) out += (out.empty() ? "" : ",") + plain(each);
  return out;
}

std::string cell_of(const json::value& in, const v1::PrinterColumn& column, int64_t now_unix_ms) {
  json::error_code none;
  const json::value* found = in.find_pointer(column.path(), none);
  const std::string text = found == nullptr ? std::string() : shown(*found);
  if (text.empty()) return nothing;
  const auto date = column.type() == "date" ? unix_ms_of(text) : std::nullopt;
  return date ? age(*date, now_unix_ms) : text;
}

}  // namespace

std::vector<TextTable::Heading> KindColumns::headings() const {
  std::vector<TextTable::Heading> out;
  for (const auto& column : columns_) {
    const int priority = static_cast<int>(std::min(column.priority(), uint32_t{after_kinds - 1}));
    out.emplace_back(column.name(), priority == 0 ? 0 : after_kinds - priority);
  }
  return out;
}

std::vector<TextTable::Cell> KindColumns::cells(const std::string& json,
                                                int64_t now_unix_ms) const {
  json::error_code error;
  const json::value in = json::parse(json, error);
  std::vector<TextTable::Cell> out;
  for (const auto& column : columns_)
    out.emplace_back(cell_of(error ? json::value() : in, column, now_unix_ms));
  return out;
}

}  // namespace davit::host

#include "setting.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace davit::host {
namespace {

std::string quoted_words(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += "\"" + words[i] + "\"";
  }
  return out;
}

std::string integer_text(const Setting& setting) {
  const bool open = setting.max == Setting::no_limit;
  if (open && setting.min == std::numeric_limits<int64_t>::min()) return "an integer";
  if (open) return "an integer from " + std::to_string(setting.min);
  return "an integer from " + std::to_string(setting.min) + " to " + std::to_string(setting.max);
}

}  // namespace

const Setting* Setting::part(std::string_view of) const {
  const auto at = std::find_if(parts.begin(), parts.end(), [&](auto& p) { return p.name == of; });
  return at == parts.end() ? nullptr : &*at;
}

Setting* Setting::part(std::string_view of) {
  return const_cast<Setting*>(std::as_const(*this).part(of));
}

std::string type_text(const Setting& setting) {
  switch (setting.type) {
    case Setting::Type::unknown:
      return "a value";
    case Setting::Type::string:
      return setting.words.empty() ? "a string" : quoted_words(setting.words);
    case Setting::Type::integer:
      return integer_text(setting);
    case Setting::Type::boolean:
      return "true or false";
    case Setting::Type::strings:
      return "an array of strings";
    case Setting::Type::table:
      return "a table";
    case Setting::Type::entries:
      return "a table of strings";
    case Setting::Type::tables:
      return "an array of tables";
  }
  return {};
}

std::string unit_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> units{{
      {"_ms", "milliseconds"},
      {"_s", "seconds"},
      {"_mib", "MiB"},
      {"_percent", "percent"},
      {"_bytes", "bytes"},
  }};
  if (name.find("_bytes_") != std::string_view::npos) return "bytes";
  for (const auto& [end, unit] : units) {
    if (name.ends_with(end)) return std::string(unit);
  }
  return {};
}

}  // namespace davit::host

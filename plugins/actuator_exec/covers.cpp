#include "covers.hpp"

#include <algorithm>
#include <cstring>

#include "process/one_line.hpp"

namespace davit::actuator_exec {
namespace {

// A shorter line of a value, such as "}", says nothing.
constexpr size_t line_least = 8;

}  // namespace

Covers::~Covers() {
  for (auto& entry : values_) explicit_bzero(entry.second.data(), entry.second.size());
}

void Covers::add(const std::string& name, std::string_view value, size_t least) {
  if (value.size() < least || value.empty()) return;
  add_part(name, value);
  if (value.find('\n') == std::string_view::npos) return;
  while (!value.empty()) {
    const size_t end = std::min(value.find('\n'), value.size());
    if (end >= line_least) add_part(name, value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

void Covers::add_part(const std::string& name, std::string_view value) {
  const auto at = std::find_if(values_.begin(), values_.end(), [&](const auto& entry) {
    return entry.second.size() <= value.size();
  });
  values_.insert(at, {name, std::string(value)});
}

std::string Covers::over(std::string_view text) const {
  std::string out(text);
  for (const auto& entry : values_) {
    const std::string instead = "[" + entry.first + "]";
    for (size_t at = 0; (at = out.find(entry.second, at)) != std::string::npos;
         at += instead.size())
      out.replace(at, entry.second.size(), instead);
  }
  return out;
}

std::string Covers::on_one_line(std::string_view text) const {
  const std::string covered = over(text);
  return over(process::one_line(covered, covered.size()));
}

}  // namespace davit::actuator_exec

#include "names.hpp"

namespace davit::deployment {
namespace {

// Limits of k8s.io/apimachinery/pkg/util/validation.
constexpr size_t label_max = 63;
constexpr size_t subdomain_max = 253;
constexpr size_t shown_max = 80;  // of a name that is refused

bool lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_dns_part(std::string_view part) {
  if (part.empty()) return false;
  auto inner = [](char c) { return lower(c) || digit(c); };
  if (!inner(part.front()) || !inner(part.back())) return false;
  for (const char c : part) {
    if (!inner(c) && c != '-') return false;
  }
  return true;
}

bool is_subdomain(std::string_view name) {
  if (name.size() > subdomain_max) return false;
  for (size_t from = 0;;) {
    const size_t dot = name.find('.', from);
    if (!is_dns_part(name.substr(from, dot - from))) return false;
    if (dot == std::string_view::npos) return true;
    from = dot + 1;
  }
}

std::string refused(std::string_view rule, std::string_view name) {
  std::string text = "must be ";
  text += rule;
  text += ", not \"";
  text += name.substr(0, shown_max);
  if (name.size() > shown_max)
    text += "...\" (" + std::to_string(name.size()) + " characters)";
  else
    text += '"';
  return text;
}

}  // namespace

std::optional<std::string> dns_label_fault(std::string_view name) {
  if (name.size() <= label_max && is_dns_part(name)) return std::nullopt;
  return refused("a DNS label (at most 63 lower-case letters, digits and \"-\")", name);
}

std::optional<std::string> dns_subdomain_fault(std::string_view name) {
  if (is_subdomain(name)) return std::nullopt;
  return refused("a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\")", name);
}

std::optional<std::string> label_value_fault(std::string_view value) {
  auto outer = [](char c) { return lower(c) || upper(c) || digit(c); };
  bool good = value.size() <= label_max;
  if (!value.empty()) good = good && outer(value.front()) && outer(value.back());
  for (const char c : value) good = good && (outer(c) || c == '-' || c == '_' || c == '.');
  if (good) return std::nullopt;
  return refused(
      "usable as a label (at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or "
      "digit at both ends)",
      value);
}

std::optional<std::string> environment_name_fault(std::string_view name) {
  bool good = !name.empty() && !digit(name.front());
  for (const char c : name) good = good && (lower(c) || upper(c) || digit(c) || c == '_');
  if (good) return std::nullopt;
  return refused(
      "the name of an environment variable (letters, digits and \"_\", not beginning with a digit)",
      name);
}

}  // namespace davit::deployment

// Checks of the names that Kubernetes accepts; kinds validate records with them. Each ..._fault
// function returns nothing for a good name. Otherwise it says what is wrong, as the rest of a
// sentence that begins with the field ("must be a DNS label ...").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <davit/utf8.hpp>

namespace davit::kubernetes {
namespace names {

// Limits of k8s.io/apimachinery/pkg/util/validation.
inline constexpr size_t label_max = 63;
inline constexpr size_t subdomain_max = 253;
inline constexpr size_t shown_max = 80;  // bytes of a refused name that a message shows

inline bool lower(char c) {
  return c >= 'a' && c <= 'z';
}
inline bool upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool digit(char c) {
  return c >= '0' && c <= '9';
}

inline bool is_dns_part(std::string_view part) {
  if (part.empty()) return false;
  auto inner = [](char c) { return lower(c) || digit(c); };
  if (!inner(part.front()) || !inner(part.back())) return false;
  for (const char c : part) {
    if (!inner(c) && c != '-') return false;
  }
  return true;
}

inline bool is_subdomain(std::string_view name) {
  if (name.size() > subdomain_max) return false;
  for (size_t from = 0;;) {
    const size_t dot = name.find('.', from);
    if (!is_dns_part(name.substr(from, dot - from))) return false;
    if (dot == std::string_view::npos) return true;
    from = dot + 1;
  }
}

inline std::string refused(std::string_view rule, std::string_view name) {
  std::string text = "must be ";
  text += rule;
  text += ", not \"";
  text += shortened(name, shown_max) + '"';
  if (name.size() > shown_max) text += " (" + std::to_string(name.size()) + " bytes)";
  return text;
}

}  // namespace names

// RFC 1123: the name of a namespace.
inline std::optional<std::string> dns_label_fault(std::string_view name) {
  if (name.size() <= names::label_max && names::is_dns_part(name)) return std::nullopt;
  return names::refused("a DNS label (at most 63 lower-case letters, digits and \"-\")", name);
}

// RFC 1035: the name of a Service. `max` is less where a suffix follows.
inline std::optional<std::string> service_name_fault(std::string_view name,
                                                     size_t max = names::label_max) {
  if (name.size() <= max && names::is_dns_part(name) && names::lower(name.front()))
    return std::nullopt;
  return names::refused("a Service's name (at most " + std::to_string(max) +
                            " lower-case letters, digits and \"-\", beginning with a letter)",
                        name);
}

// RFC 1123: the name of most objects.
inline std::optional<std::string> dns_subdomain_fault(std::string_view name) {
  if (names::is_subdomain(name)) return std::nullopt;
  return names::refused("a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\")",
                        name);
}

// The value of a label. It may be empty.
inline std::optional<std::string> label_value_fault(std::string_view value) {
  auto outer = [](char c) { return names::lower(c) || names::upper(c) || names::digit(c); };
  bool good = value.size() <= names::label_max;
  if (!value.empty()) good = good && outer(value.front()) && outer(value.back());
  for (const char c : value) good = good && (outer(c) || c == '-' || c == '_' || c == '.');
  if (good) return std::nullopt;
  return names::refused(
      "usable as a label (at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or "
      "digit at both ends)",
      value);
}

// The prefix of a label's key: empty, or a DNS name and "/".
inline std::optional<std::string> label_prefix_fault(std::string_view prefix) {
  if (prefix.empty()) return std::nullopt;
  if (prefix.back() == '/' && names::is_subdomain(prefix.substr(0, prefix.size() - 1)))
    return std::nullopt;
  return "must be empty or a DNS name that ends in \"/\", such as \"example.com/\"";
}

inline std::optional<std::string> environment_name_fault(std::string_view name) {
  bool good = !name.empty() && !names::digit(name.front());
  for (const char c : name)
    good = good && (names::lower(c) || names::upper(c) || names::digit(c) || c == '_');
  if (good) return std::nullopt;
  return names::refused(
      "the name of an environment variable (letters, digits and \"_\", not beginning with a digit)",
      name);
}

}  // namespace davit::kubernetes

#include "json_scan.hpp"

namespace davit::kubernetes {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t skip_space(std::string_view s, size_t i) {
  while (i < s.size() && is_space(s[i])) ++i;
  return i;
}

// `i` is at the opening quote. Returns the position after the closing quote, or the end of the
// text.
size_t skip_string(std::string_view s, size_t i) {
  for (++i; i < s.size(); ++i) {
    if (s[i] == '\\') {
      ++i;
    } else if (s[i] == '"') {
      return i + 1;
    }
  }
  return s.size();
}

size_t skip_value(std::string_view s, size_t i) {
  if (i >= s.size()) return s.size();
  if (s[i] == '"') return skip_string(s, i);
  if (s[i] != '{' && s[i] != '[') {
    while (i < s.size() && s[i] != ',' && s[i] != '}' && s[i] != ']' && !is_space(s[i])) ++i;
    return i;
  }
  size_t depth = 0;
  while (i < s.size()) {
    const char c = s[i];
    if (c == '"') {
      i = skip_string(s, i);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
    ++i;
  }
  return s.size();
}

// Ends with the first member for which `is_it` returns true.
template <class Is>
void first_member(std::string_view s, Is is_it) {
  size_t i = skip_space(s, 0);
  if (i >= s.size() || s[i] != '{') return;
  i = skip_space(s, i + 1);
  while (i < s.size() && s[i] == '"') {
    const size_t end = skip_string(s, i);
    const std::string_view quoted = s.substr(i, end - i);
    i = skip_space(s, end);
    if (i >= s.size() || s[i] != ':') return;
    i = skip_space(s, i + 1);
    const size_t value_end = skip_value(s, i);
    if (quoted.size() < 2) return;
    if (is_it(quoted.substr(1, quoted.size() - 2), s.substr(i, value_end - i))) return;
    i = skip_space(s, value_end);
    if (i >= s.size() || s[i] != ',') return;
    i = skip_space(s, i + 1);
  }
}

}  // namespace

void json_members(std::string_view s,
                  const std::function<void(std::string_view, std::string_view)>& visit) {
  first_member(s, [&](std::string_view name, std::string_view value) {
    visit(name, value);
    return false;
  });
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view key) {
  std::optional<std::string_view> out;
  first_member(object, [&](std::string_view name, std::string_view value) {
    if (name != key) return false;
    out = value;
    return true;
  });
  return out;
}

std::optional<std::string_view> json_at(std::string_view object,
                                        std::initializer_list<std::string_view> path) {
  std::optional<std::string_view> at = object;
  for (auto key : path) {
    at = json_member(*at, key);
    if (!at) return std::nullopt;
  }
  return at;
}

std::optional<std::string_view> json_plain_string(std::optional<std::string_view> v) {
  if (!v || v->size() < 2 || v->front() != '"' || v->back() != '"') return std::nullopt;
  const auto inner = v->substr(1, v->size() - 2);
  if (inner.find('\\') != std::string_view::npos) return std::nullopt;
  return inner;
}

void json_elements(std::string_view s, const std::function<void(std::string_view)>& visit) {
  size_t i = skip_space(s, 0);
  if (i >= s.size() || s[i] != '[') return;
  i = skip_space(s, i + 1);
  while (i < s.size() && s[i] != ']') {
    const size_t end = skip_value(s, i);
    if (end == i) return;
    visit(s.substr(i, end - i));
    i = skip_space(s, end);
    if (i >= s.size() || s[i] != ',') return;
    i = skip_space(s, i + 1);
  }
}

}  // namespace davit::kubernetes

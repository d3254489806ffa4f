#include "added.hpp"

#include <algorithm>
#include <vector>

namespace davit::streamer {

namespace {

constexpr size_t none = std::string_view::npos;

// The position after the quote that ends a string. `at`: the position after its first quote.
size_t string_end(std::string_view text, size_t at) {
  for (;; ++at) {
    at = text.find('"', at);
    if (at == none) return none;
    size_t escapes = at;
    while (escapes > 0 && text[escapes - 1] == '\\') --escapes;
    if ((at - escapes) % 2 == 0) return at + 1;
  }
}

// The position of the comma or bracket that follows a value.
size_t value_end(std::string_view text, size_t at) {
  for (size_t depth = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = string_end(text, at + 1);
        if (at == none) return none;
        --at;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (depth-- == 0) return at;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default:
        break;
    }
  }
  return none;
}

struct Member {
  std::string_view key, whole;  // the key with its quotes; key and value
};

std::optional<std::vector<Member>> members(std::string_view object) {
  if (object.size() < 2 || object.front() != '{') return std::nullopt;
  std::vector<Member> out;
  if (object == "{}") return out;
  out.reserve(32);
  for (size_t at = 1;;) {
    if (at >= object.size() || object[at] != '"') return std::nullopt;
    const size_t colon = string_end(object, at + 1);
    if (colon >= object.size() || object[colon] != ':') return std::nullopt;
    const size_t end = value_end(object, colon + 1);
    if (end == none) return std::nullopt;
    out.push_back({object.substr(at, colon - at), object.substr(at, end - at)});
    if (object[end] != ',') {
      if (object[end] != '}' || end + 1 != object.size()) return std::nullopt;
      return out;
    }
    at = end + 1;
  }
}

// The fast way of added(), for an `after` that appends members to `before`: only the appended
// members are read.
std::optional<std::string> appended(std::string_view before, std::string_view after) {
  if (before.size() < 2 || after.size() <= before.size()) return std::nullopt;
  const size_t end = before.size() - 1;  // of its last member
  if (before[end] != '}' || after[end] != ',' || !after.starts_with(before.substr(0, end)))
    return std::nullopt;
  std::string out = "{";
  out += after.substr(end + 1);
  const auto more = members(out);
  if (!more || more->empty()) return std::nullopt;
  // `before` has this key somewhere, perhaps within another member: leave it to the full way.
  const bool named = std::any_of(more->begin(), more->end(), [&](const Member& m) {
    return before.find(m.key) != std::string_view::npos;
  });
  if (named) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::string> added(std::string_view before, std::string_view after) {
  if (auto out = appended(before, after)) return out;
  const auto had = members(before);
  const auto has = members(after);
  if (!had || !has) return std::nullopt;
  std::string out = "{";
  size_t same = 0;
  for (const Member& m : *has) {
    if (same < had->size() && (*had)[same].key == m.key) {
      if ((*had)[same++].whole != m.whole) return std::nullopt;
      continue;
    }
    if (std::any_of(had->begin(), had->end(), [&](const Member& h) { return h.key == m.key; }))
      return std::nullopt;
    if (out.size() > 1) out += ',';
    out += m.whole;
  }
  if (same != had->size()) return std::nullopt;
  return out + '}';
}

}  // namespace davit::streamer

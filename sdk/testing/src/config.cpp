#include "davit/testing/config.hpp"

#include <charconv>

namespace davit::testing {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

// Removes a quoted string from the front of `s` and returns it. Escapes: \" and \\ and \n.
std::optional<std::string> quoted(std::string_view& s) {
  if (s.empty() || s.front() != '"') return std::nullopt;
  std::string out;
  for (size_t i = 1; i < s.size(); ++i) {
    if (s[i] == '"') {
      s.remove_prefix(i + 1);
      return out;
    }
    if (s[i] != '\\') {
      out += s[i];
    } else if (++i < s.size()) {
      out += s[i] == 'n' ? '\n' : s[i];
    }
  }
  return std::nullopt;
}

bool only_comment(std::string_view s) {
  s = trim(s);
  return s.empty() || s.front() == '#';
}

std::optional<Config::Value> array(std::string_view s) {
  std::vector<std::string> items;
  s = trim(s.substr(1));
  while (!s.empty() && s.front() != ']') {
    auto item = quoted(s);
    if (!item) return std::nullopt;
    items.push_back(*item);
    s = trim(s);
    if (!s.empty() && s.front() == ',') s = trim(s.substr(1));
  }
  if (s.empty() || !only_comment(s.substr(1))) return std::nullopt;
  return items;
}

std::optional<Config::Value> value(std::string_view s) {
  if (s.empty()) return std::nullopt;
  if (s.front() == '[') return array(s);
  if (auto text = quoted(s)) {
    if (!only_comment(s)) return std::nullopt;
    return *text;
  }
  s = trim(s.substr(0, s.find('#')));
  if (s == "true") return true;
  if (s == "false") return false;
  int64_t integer = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), integer);
  if (error == std::errc() && end == s.data() + s.size()) return integer;
  return std::nullopt;
}

}  // namespace

Result<Config> Config::parse(std::string_view text) {
  Config out;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    const auto found =
        equals == std::string_view::npos ? std::nullopt : value(trim(line.substr(equals + 1)));
    if (!found) {
      return Error{Code::invalid_argument,
                   "line " + std::to_string(number) + ": not a `key = value`"};
    }
    out.set(Entry(std::string(trim(line.substr(0, equals))), *found, 0));
  }
  return out;
}

Config& Config::set(Entry entry) {
  erase(entry.key);
  entries_.push_back(std::move(entry));
  return *this;
}

Config& Config::erase(std::string_view key) {
  std::erase_if(entries_, [&](const Entry& e) { return e.key == key; });
  return *this;
}

std::string Config::string(std::string_view key) const {
  for (const auto& e : entries_) {
    if (e.key == key && std::holds_alternative<std::string>(e.value))
      return std::get<std::string>(e.value);
  }
  return {};
}

bool Config::boolean(std::string_view key) const {
  for (const auto& e : entries_) {
    if (e.key == key && std::holds_alternative<bool>(e.value)) return std::get<bool>(e.value);
  }
  return false;
}

Config Config::with(std::string_view what, std::string_view with) const {
  const auto replace = [&](std::string& s) {
    for (size_t at = s.find(what); at != std::string::npos; at = s.find(what, at + with.size())) {
      s.replace(at, what.size(), with);
    }
  };
  Config out = *this;
  for (auto& e : out.entries_) {
    if (auto* text = std::get_if<std::string>(&e.value)) replace(*text);
    if (auto* list = std::get_if<std::vector<std::string>>(&e.value)) {
      for (auto& item : *list) replace(item);
    }
    if (auto* tables = std::get_if<std::vector<Config>>(&e.value)) {
      for (auto& table : *tables) table = table.with(what, with);
    }
  }
  return out;
}

}  // namespace davit::testing

#include "arguments.hpp"

#include <algorithm>

#include "duration.hpp"

namespace davit::host {

size_t Arguments::options_end() const {
  return static_cast<size_t>(std::find(words_.begin(), words_.end(), "--") - words_.begin());
}

bool Arguments::flag(std::string_view name, std::string_view other) {
  bool found = false;
  for (size_t i = 0; i < options_end();) {
    if (words_[i] == name || (!other.empty() && words_[i] == other)) {
      words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i));
      found = true;
    } else {
      ++i;
    }
  }
  return found;
}

std::optional<std::string> Arguments::option(std::string_view name, std::string_view other) {
  const std::vector<std::string> all = options(name, other);
  if (all.empty()) return std::nullopt;
  return all.back();
}

std::vector<std::string> Arguments::options(std::string_view name, std::string_view other) {
  std::vector<std::string> found;
  for (size_t i = 0; i < options_end();) {
    const std::string word = words_[i];
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string_view key = std::string_view(word).substr(0, equals);
    if (key != name && (other.empty() || key != other)) {
      ++i;
      continue;
    }
    const auto at = words_.begin() + static_cast<std::ptrdiff_t>(i);
    if (equals != std::string::npos) {
      found.push_back(word.substr(equals + 1));
      words_.erase(at);
    } else if (i + 1 < options_end()) {
      found.push_back(words_[i + 1]);
      words_.erase(at, at + 2);
    } else {
      problem_ = "option " + word + " needs a value";
      words_.erase(at);
    }
  }
  return found;
}

std::optional<std::chrono::milliseconds> Arguments::duration(std::string_view name) {
  const auto text = option(name);
  if (!text) return std::nullopt;
  const auto parsed = parse_duration(*text);
  if (!parsed) problem_ = std::string(name) + " must be like 60s, 5m or 7d, not \"" + *text + "\"";
  return parsed;
}

std::optional<std::string> Arguments::unknown() const {
  if (!problem_.empty()) return problem_;
  for (size_t i = 0; i < options_end(); ++i) {
    if (words_[i].size() > 1 && words_[i].front() == '-') return "unknown option " + words_[i];
  }
  return std::nullopt;
}

std::vector<std::string> Arguments::rest() const {
  std::vector<std::string> out = words_;
  const size_t end = options_end();
  if (end < out.size()) out.erase(out.begin() + static_cast<std::ptrdiff_t>(end));
  return out;
}

}  // namespace davit::host

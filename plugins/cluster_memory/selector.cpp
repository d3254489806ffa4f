#include "selector.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "names.hpp"

namespace davit::cluster_memory {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// Splits at commas outside of parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    out.push_back(trim(text.substr(from, i - from)));
    from = i + 1;
  }
  return out;
}

Error refused(std::string_view what, std::string_view text) {
  return {Code::invalid_argument,
          std::string(what) + " \"" + std::string(text) + "\" cannot be read"};
}

}  // namespace

Result<LabelSelector::Requirement> LabelSelector::requirement(std::string_view text) {
  Requirement r;
  std::string_view key = text;
  if (const size_t paren = text.find('('); paren != std::string_view::npos) {
    if (text.back() != ')') return refused("label selector", text);
    for (auto v : split(text.substr(paren + 1, text.size() - paren - 2))) r.values.emplace_back(v);
    std::string_view head = trim(text.substr(0, paren));
    const size_t space = head.rfind(' ');
    if (space == std::string_view::npos) return refused("label selector", text);
    const auto word = head.substr(space + 1);
    if (word != "in" && word != "notin") return refused("label selector", text);
    r.op = word == "in" ? Requirement::in : Requirement::not_in;
    key = trim(head.substr(0, space));
  } else if (const size_t eq = text.find('='); eq != std::string_view::npos) {
    const bool negated = eq > 0 && text[eq - 1] == '!';
    r.op = negated ? Requirement::not_in : Requirement::in;
    key = trim(text.substr(0, negated ? eq - 1 : eq));
    std::string_view value = text.substr(eq + 1);
    if (!value.empty() && value.front() == '=') value.remove_prefix(1);
    r.values.emplace_back(trim(value));
  } else if (text.front() == '!') {
    r.op = Requirement::absent;
    key = trim(text.substr(1));
  }
  if (!valid_label_key(key) || !std::all_of(r.values.begin(), r.values.end(), valid_label_value)) {
    return refused("label selector", text);
  }
  r.key = key;
  return r;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector out;
  if (trim(text).empty()) return out;
  for (auto part : split(text)) {
    if (part.empty()) return refused("label selector", text);
    auto r = requirement(part);
    if (!r.ok()) return r.error();
    out.requirements_.push_back(std::move(*r));
  }
  return out;
}

bool LabelSelector::matches(const boost::json::object* labels) const {
  for (const auto& r : requirements_) {
    const auto* value = labels == nullptr ? nullptr : labels->if_contains(r.key);
    const bool listed = value != nullptr && value->is_string() &&
                        std::find(r.values.begin(), r.values.end(),
                                  std::string_view(value->get_string())) != r.values.end();
    const bool holds = r.op == Requirement::in       ? listed
                       : r.op == Requirement::not_in ? !listed
                       : r.op == Requirement::exists ? value != nullptr
                                                     : value == nullptr;
    if (!holds) return false;
  }
  return true;
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector out;
  if (trim(text).empty()) return out;
  for (auto part : split(text)) {
    const size_t eq = part.find('=');
    if (eq == std::string_view::npos || eq == 0) return refused("field selector", text);
    const bool negated = part[eq - 1] == '!';
    const auto field = trim(part.substr(0, negated ? eq - 1 : eq));
    std::string_view value = part.substr(eq + 1);
    if (!value.empty() && value.front() == '=') value.remove_prefix(1);
    if (field != "metadata.name" && field != "metadata.namespace") {
      return Error{Code::invalid_argument, "field label not supported: " + std::string(field)};
    }
    out.requirements_.push_back({field == "metadata.name", !negated, std::string(trim(value))});
  }
  return out;
}

bool FieldSelector::matches(std::string_view ns, std::string_view name) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    return ((r.name ? name : ns) == r.value) == r.equal;
  });
}

}  // namespace davit::cluster_memory

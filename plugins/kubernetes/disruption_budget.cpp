#include "disruption_budget.hpp"

#include <charconv>

#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "message.hpp"

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

constexpr int64_t share_top = 100;  // per cent

// nullopt: not digits alone, or too much.
std::optional<int64_t> number(std::string_view text, int64_t top) {
  int64_t out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size() || out < 0 || out > top)
    return std::nullopt;
  return out;
}

json::value bound(const std::string& text) {
  if (const auto pods = number(text, int32_top)) return *pods;
  return json::value(text);
}

}  // namespace

std::optional<std::string> bound_fault(std::string_view text) {
  const bool share = text.ends_with('%');
  const auto digits = share ? text.substr(0, text.size() - 1) : text;
  if (number(digits, share ? share_top : int32_top)) return std::nullopt;
  return names::refused("a number of pods (\"1\") or a share (\"50%\")", text);
}

json::object budget_spec(const DisruptionBudget& budget, json::object match_labels) {
  json::object out;
  if (!budget.min_available.empty())
    out["minAvailable"] = bound(budget.min_available);
  else
    out["maxUnavailable"] = bound(budget.max_unavailable);
  out["selector"] = {{"matchLabels", std::move(match_labels)}};
  return out;
}

}  // namespace davit::kubernetes

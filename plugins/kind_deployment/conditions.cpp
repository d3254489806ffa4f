#include "conditions.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/utf8.hpp>

#include "fields.hpp"

namespace davit::deployment {
namespace json = boost::json;
namespace {

constexpr size_t saying_max = 300;  // a scheduler's message lists every node

}  // namespace

std::string member(const json::object* from, std::string_view key) {
  const auto* v = from == nullptr ? nullptr : from->if_contains({key.data(), key.size()});
  const auto* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string{} : std::string(s->data(), s->size());
}

const json::object* condition(const json::value& object, std::string_view type) {
  const auto* all = array_at(object, "/status/conditions");
  if (all == nullptr) return nullptr;
  for (const auto& c : *all) {
    if (const auto* o = c.if_object(); o != nullptr && member(o, "type") == type) return o;
  }
  return nullptr;
}

bool is_true(const json::object* condition) {
  return member(condition, "status") == "True";
}

std::string saying(const json::object* condition) {
  std::string reason = member(condition, "reason");
  const std::string message = member(condition, "message");
  if (!message.empty()) reason += (reason.empty() ? "" : ": ") + message;
  return shortened(reason, saying_max);
}

}  // namespace davit::deployment

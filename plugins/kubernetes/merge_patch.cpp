#include "merge_patch.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "json.hpp"

namespace davit::kubernetes {

namespace json = boost::json;

void merge_patch(json::object& target, const json::object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      target.erase(key);
    } else if (value.is_object()) {
      merge_patch(object_made(target, key), value.get_object());
    } else {
      target[key] = value;
    }
  }
}

json::object merge_patch_between(const json::object& before, const json::object& wanted) {
  json::object out;
  for (const auto& [key, value] : wanted) {
    const json::value* was = before.if_contains(key);
    if (was != nullptr && *was == value) continue;
    if (value.is_null()) {
      if (was != nullptr) out[key] = nullptr;
    } else if (value.is_object() && was != nullptr && was->is_object()) {
      json::object inner = merge_patch_between(was->get_object(), value.get_object());
      if (!inner.empty()) out[key] = std::move(inner);
    } else {
      out[key] = value;
    }
  }
  for (const auto& [key, value] : before) {
    if (!wanted.contains(key)) out[key] = nullptr;
  }
  return out;
}

}  // namespace davit::kubernetes

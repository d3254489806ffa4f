#include "fields.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

std::string_view type_name(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "true or false";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
    default:
      return "a number";
  }
}

}  // namespace

Result<json::value> parse_object(std::string_view text, std::string_view what,
                                 json::storage_ptr memory) {
  json::error_code error;
  json::value value = json::parse(text, error, std::move(memory));
  if (error)
    return Error{Code::invalid_argument, std::string(what) + " is not JSON: " + error.message()};
  if (!value.is_object())
    return Error{Code::invalid_argument, std::string(what) + " is not a JSON object"};
  return value;
}

Fields Fields::inside(const json::object& object, std::string_view key) const {
  return {object, at(key), fault_};
}

const json::value* Fields::find(std::string_view key) const {
  const auto* v = object_.if_contains(key);
  return v == nullptr || v->is_null() ? nullptr : v;
}

bool Fields::is_empty_string(std::string_view key) const {
  const auto* v = find(key);
  return v != nullptr && v->is_string() && v->get_string().empty();
}

std::string Fields::at(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Fields::reject(std::string_view key, std::string message) const {
  if (!fault_) fault_ = Error{Code::invalid_argument, std::move(message), at(key)};
}

void Fields::wrong_type(std::string_view key, std::string_view wanted,
                        const json::value& found) const {
  reject(key, "must be " + std::string(wanted) + ", not " + std::string(type_name(found)));
}

std::string Fields::string(std::string_view key) const {
  return optional_string(key).value_or("");
}

std::string Fields::needed(std::string_view key) const {
  std::string value = string(key);
  if (value.empty()) reject(key, "is missing");
  return value;
}

std::optional<std::string> Fields::optional_string(std::string_view key) const {
  const auto* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (const auto* s = v->if_string()) return std::string(s->data(), s->size());
  wrong_type(key, "a string", *v);
  return std::nullopt;
}

std::vector<std::string> Fields::strings(std::string_view key) const {
  std::vector<std::string> out;
  const auto* v = find(key);
  if (v == nullptr) return out;
  const auto* list = v->if_array();
  if (list == nullptr) {
    wrong_type(key, "a list of strings", *v);
    return out;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    if (const auto* s = (*list)[i].if_string())
      out.emplace_back(s->data(), s->size());
    else
      wrong_type(std::string(key) + "[" + std::to_string(i) + "]", "a string", (*list)[i]);
  }
  return out;
}

int64_t Fields::integer(std::string_view key, int64_t min, int64_t max) const {
  const auto* v = find(key);
  const auto number = v == nullptr ? std::optional<int64_t>(0) : as_integer(*v);
  if (!number) {
    if (v->is_string())
      reject(key, "must be a whole number, not \"" + std::string(v->get_string().c_str()) + "\"");
    else if (v->is_number())
      reject(key, "must be a whole number of at most 64 bits");
    else
      wrong_type(key, "a whole number", *v);
    return min;
  }
  if (*number >= min && *number <= max) return *number;
  const std::string bound =
      *number < min ? "at least " + std::to_string(min) : "at most " + std::to_string(max);
  reject(key, "must be " + bound + ", not " + std::to_string(*number));
  return min;
}

std::optional<int64_t> Fields::optional_integer(std::string_view key, int64_t min,
                                                int64_t max) const {
  if (!has(key)) return std::nullopt;
  return integer(key, min, max);
}

std::optional<bool> Fields::optional_boolean(std::string_view key) const {
  const auto* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_bool()) wrong_type(key, "true or false", *v);
  return v->is_bool() && v->get_bool();
}

const json::object* Fields::object(std::string_view key) const {
  const auto* v = find(key);
  if (v == nullptr) return nullptr;
  if (const auto* o = v->if_object()) return o;
  wrong_type(key, "an object", *v);
  return nullptr;
}

void Fields::only(std::initializer_list<std::string_view> known) const {
  for (const auto& member : object_) {
    const std::string_view key(member.key().data(), member.key().size());
    bool found = false;
    std::string names;
    for (const auto k : known) {
      found = found || k == key;
      names += (names.empty() ? "" : ", ") + std::string(k);
    }
    if (!found) reject(key, "is not known here (known: " + names + ")");
  }
}

}  // namespace davit::kubernetes

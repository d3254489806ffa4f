#include "json.hpp"

#include <charconv>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

const json::value* value_at(const json::value& from, std::string_view pointer) {
  json::error_code none;
  return from.find_pointer(pointer, none);
}

}  // namespace

json::object object_of(std::string_view text) {
  json::error_code bad;
  json::value value = json::parse(json::string_view(text.data(), text.size()), bad);
  return bad || !value.is_object() ? json::object() : std::move(value.get_object());
}

std::string_view text_of(const json::value* value) {
  const auto* s = value == nullptr ? nullptr : value->if_string();
  return s == nullptr ? std::string_view{} : std::string_view(s->data(), s->size());
}

std::string_view text_at(const json::value& from, std::string_view pointer) {
  return text_of(value_at(from, pointer));
}
const json::object* object_at(const json::value& from, std::string_view pointer) {
  const auto* v = value_at(from, pointer);
  return v == nullptr ? nullptr : v->if_object();
}
const json::array* array_at(const json::value& from, std::string_view pointer) {
  const auto* v = value_at(from, pointer);
  return v == nullptr ? nullptr : v->if_array();
}
std::optional<int64_t> integer_at(const json::value& from, std::string_view pointer) {
  const auto* v = value_at(from, pointer);
  return v == nullptr ? std::nullopt : as_integer(*v);
}

const json::value* value_in(const json::object* from, std::string_view key) {
  return from == nullptr ? nullptr : from->if_contains(key);
}
std::string_view text_in(const json::object* from, std::string_view key) {
  return text_of(value_in(from, key));
}
const json::object* object_in(const json::object* from, std::string_view key) {
  const auto* v = value_in(from, key);
  return v == nullptr ? nullptr : v->if_object();
}
const json::array* array_in(const json::object* from, std::string_view key) {
  const auto* v = value_in(from, key);
  return v == nullptr ? nullptr : v->if_array();
}

json::object& object_made(json::object& in, std::string_view key) {
  json::value& at = in[key];
  if (!at.is_object()) at = json::object();
  return at.get_object();
}

std::optional<int64_t> as_integer(const json::value& value) {
  if (const auto* i = value.if_int64()) return *i;
  const std::string_view digits = text_of(&value);
  const char* const last = digits.data() + digits.size();
  int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), last, out);
  if (digits.empty() || error != std::errc{} || end != last) return std::nullopt;
  return out;
}

}  // namespace davit::kubernetes

#include "fields.hpp"

#include <charconv>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace davit::sentinel {
namespace json = boost::json;
namespace {

const json::value* find_at(const json::value& from, std::string_view pointer) {
  json::error_code none;
  return from.find_pointer({pointer.data(), pointer.size()}, none);
}

std::string_view text_of(const json::value* v) {
  const auto* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string_view{} : std::string_view(s->data(), s->size());
}

std::optional<int64_t> as_integer(const json::value& v) {
  if (const auto* i = v.if_int64()) return *i;
  const std::string_view digits = text_of(&v);
  int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  return out;
}

}  // namespace

Result<json::value> parse_object(std::string_view text, std::string_view what) {
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error)
    return Error{
        Code::invalid_argument, std::string(what) + " is not JSON: " + error.message(), {}, {}};
  if (!value.is_object())
    return Error{Code::invalid_argument, std::string(what) + " is not a JSON object", {}, {}};
  return value;
}

std::string_view text_at(const json::value& from, std::string_view pointer) {
  return text_of(find_at(from, pointer));
}
int64_t integer_at(const json::value& from, std::string_view pointer) {
  const auto* v = find_at(from, pointer);
  return v == nullptr ? 0 : as_integer(*v).value_or(0);
}
const json::array* array_at(const json::value& from, std::string_view pointer) {
  const auto* v = find_at(from, pointer);
  return v == nullptr ? nullptr : v->if_array();
}
std::string_view text_in(const json::value& from, std::string_view pointer, std::string_view key) {
  const auto* v = find_at(from, pointer);
  const auto* o = v == nullptr ? nullptr : v->if_object();
  return o == nullptr ? std::string_view{} : text_of(o->if_contains({key.data(), key.size()}));
}

const json::value* Fields::find(std::string_view key) const {
  const auto* v = object_.if_contains({key.data(), key.size()});
  return v == nullptr || v->is_null() ? nullptr : v;
}

void Fields::reject(std::string_view key, std::string message) {
  if (!fault_) fault_ = Error{Code::invalid_argument, std::move(message), std::string(key), {}};
}

std::string Fields::string(std::string_view key) {
  const auto* v = find(key);
  if (v != nullptr && !v->is_string()) reject(key, "must be a string");
  return std::string(text_of(v));
}

std::string Fields::needed(std::string_view key) {
  std::string value = string(key);
  if (value.empty()) reject(key, "is missing");
  return value;
}

int64_t Fields::integer(std::string_view key, int64_t min, int64_t max) {
  const auto* v = find(key);
  const auto number = v == nullptr ? std::optional<int64_t>(0) : as_integer(*v);
  if (number && *number >= min && *number <= max) return *number;
  if (!number) {
    reject(key, "must be a whole number of at most 64 bits");
  } else {
    const bool low = *number < min;
    reject(key, "must be " + std::string(low ? "at least " : "at most ") +
                    std::to_string(low ? min : max) + ", not " + std::to_string(*number));
  }
  return min;
}

}  // namespace davit::sentinel

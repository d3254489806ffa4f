// Reads JSON values that somebody else wrote, by JSON pointer or by the name of a member. What is
// absent or of another type is an empty text or NULL. Every plugin that reads objects of a cluster
// uses it. Where a fault must be named, `fields.hpp` reads member by member instead. Pure. The
// results point into the value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/json/fwd.hpp>

namespace davit::kubernetes {

// The text of a value, which may be NULL.
std::string_view text_of(const boost::json::value* value);

// The object that a text is; an empty one when it is none.
boost::json::object object_of(std::string_view text);

// By JSON pointer: "/metadata/labels/app". A "/" in a name is written "~1".
std::string_view text_at(const boost::json::value& from, std::string_view pointer);
const boost::json::object* object_at(const boost::json::value& from, std::string_view pointer);
const boost::json::array* array_at(const boost::json::value& from, std::string_view pointer);
// A number, or a string of digits.
std::optional<int64_t> integer_at(const boost::json::value& from, std::string_view pointer);

// By the name of a member, which needs no escapes. `from` may be NULL.
const boost::json::value* value_in(const boost::json::object* from, std::string_view key);
std::string_view text_in(const boost::json::object* from, std::string_view key);
const boost::json::object* object_in(const boost::json::object* from, std::string_view key);
const boost::json::array* array_in(const boost::json::object* from, std::string_view key);
inline std::string_view text_in(const boost::json::object& from, std::string_view key) {
  return text_in(&from, key);
}
inline const boost::json::object* object_in(const boost::json::object& from, std::string_view key) {
  return object_in(&from, key);
}
inline const boost::json::array* array_in(const boost::json::object& from, std::string_view key) {
  return array_in(&from, key);
}

// The object that is the member `key`. It is made if there is none, in place of what else is there.
// The next one made in `in` may move it.
boost::json::object& object_made(boost::json::object& in, std::string_view key);

// A number, or a string of digits, because proto3 JSON writes 64-bit integers as strings.
std::optional<int64_t> as_integer(const boost::json::value& value);

}  // namespace davit::kubernetes

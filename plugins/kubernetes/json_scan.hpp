// Finds parts of a JSON text without parsing all of it. A watch uses it, because it reads only two
// or three fields of an object and passes the rest on; so does who passes a part on as it was
// written, with each digit of its numbers.
//
// It trusts that the text is JSON as an API server writes it. For other text it may find nothing or
// the wrong part, but it never reads beyond the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace davit::kubernetes {

// The value of a member of this object, as text ("\"x\"", "{...}"), without white space around it.
std::optional<std::string_view> json_member(std::string_view object, std::string_view key);
// The value of a member of nested objects.
std::optional<std::string_view> json_at(std::string_view object,
                                        std::initializer_list<std::string_view> path);
// The characters of a string that needs no unescaping. Nothing: it needs unescaping, or is no
// string.
std::optional<std::string_view> json_plain_string(std::optional<std::string_view> value);
// Calls `visit` with each member of this object: its name, as it is written between the quotes, and
// its value.
void json_members(std::string_view object,
                  const std::function<void(std::string_view, std::string_view)>& visit);
// Calls `visit` with each element of this array.
void json_elements(std::string_view array, const std::function<void(std::string_view)>& visit);

}  // namespace davit::kubernetes

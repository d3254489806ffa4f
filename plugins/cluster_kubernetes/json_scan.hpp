// Finds parts of a JSON text without building it: a watch passes objects on unread but for two or
// three fields.
//
// Trusts that the text is JSON as an API server writes it; of other text it may find nothing or the
// wrong part, and never reads beyond its end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace davit::cluster_kubernetes {

// The value of a member of this object, as text ("\"x\"", "{...}"); white space around is left out.
std::optional<std::string_view> json_member(std::string_view object, std::string_view key);
// The same along a path.
std::optional<std::string_view> json_at(std::string_view object,
                                        std::initializer_list<std::string_view> path);
// A string's characters, when it needs no unescaping; otherwise, or when it is no string, nothing.
std::optional<std::string_view> json_plain_string(std::optional<std::string_view> value);
// Calls `visit` with each element of this array.
void json_elements(std::string_view array, const std::function<void(std::string_view)>& visit);

}  // namespace davit::cluster_kubernetes

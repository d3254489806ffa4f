// Finds the members that one JSON object has beyond another. The encoder for Krane's agents
// (frames.hpp) uses it: a kind mostly adds a field or two for those agents. Only these fields are
// turned into protobuf. Their bytes follow the record's own, and every reader merges the two. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davit::streamer {

// Returns an object of those members of `after` that `before` does not have. Returns nothing when
// the two differ in any other way, or when one of them is not compact JSON. Members are compared
// byte by byte. Their values are not checked: the reader of the answer does that.
std::optional<std::string> added(std::string_view before, std::string_view after);

}  // namespace davit::streamer

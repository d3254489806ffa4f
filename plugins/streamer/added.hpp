// What one JSON object has beyond another one. A kind mostly adds a field or two for agents of
// Krane's: only these are turned into protobuf, and their bytes follow those of the record, which
// every reader merges. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davit::streamer {

// The object of those members of `after` that `before` does not have. Nothing when the two differ
// in any other way, or when one of them is not compact JSON. Members are compared as they are
// written, and are not checked otherwise: whoever reads the answer does that.
std::optional<std::string> added(std::string_view before, std::string_view after);

}  // namespace davit::streamer

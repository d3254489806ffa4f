// Message bytes to proto3 JSON: proto field names, 64-bit integers as strings, absent fields left
// out, JSON bytes fields nested. Fields come in the order of their numbers, map entries in the
// order of their keys: the same message always gives the same text.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

struct davit_schema;

namespace davit::host {

// Bytes of a JSON field that cannot be shown nested (not JSON, `null`, or this very object) are
// shown as
// {"$base64": "..."}, which from_json turns back into the same bytes.
constexpr std::string_view raw_bytes_key = "$base64";

// Unknown fields are not shown: the bytes keep them, the JSON cannot. INVALID_ARGUMENT when the
// bytes are no such message.
Result<std::string> to_json(const davit_schema&, std::string_view type, std::string_view bytes);

}  // namespace davit::host

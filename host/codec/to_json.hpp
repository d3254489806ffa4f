// Converts the bytes of a message to proto3 JSON. It uses proto field names, writes 64-bit integers
// as strings, omits absent fields and nests the content of JSON bytes fields. Fields are in the
// order of their numbers, map entries in the order of their keys, so the same message always gives
// the same text.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

struct davit_schema;

namespace davit::host {

// The content of a JSON field that cannot be nested (not JSON, `null`, or an object with this key)
// is written as {"$base64": "..."}. from_json turns it back into the same bytes.
constexpr std::string_view raw_bytes_key = "$base64";

// Unknown fields are omitted: JSON cannot express them, and the bytes still have them.
// INVALID_ARGUMENT: the bytes are not such a message, or a text in it is not UTF-8.
Result<std::string> to_json(const davit_schema&, std::string_view type, std::string_view bytes);

}  // namespace davit::host

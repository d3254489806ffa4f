// Compares two messages by meaning. The plugin `desired` uses it to see whether an apply changes a
// record.
#pragma once

#include <string_view>

struct davit_schema;

namespace davit::host {

// The order of fields and map entries is ignored, as is white space in JSON fields. Unknown fields
// count. Bytes that are not such a message are equal only to themselves.
bool equal_messages(const davit_schema&, std::string_view type, std::string_view a,
                    std::string_view b);

}  // namespace davit::host

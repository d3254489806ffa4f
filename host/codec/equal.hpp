// Whether two messages mean the same.
#pragma once

#include <string_view>

struct davit_schema;

namespace davit::host {

// The order of fields and map entries does not count, nor does white space in JSON fields; unknown
// fields do. Bytes that are no such message equal only themselves.
bool equal_messages(const davit_schema&, std::string_view type, std::string_view a,
                    std::string_view b);

}  // namespace davit::host

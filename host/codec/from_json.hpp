// Converts an operator's JSON to the bytes of a message. It checks each field against the
// descriptor, so that every fault names its path: "autoscaling.min_replicas", "command[2]",
// "labels[\"app\"]".
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

struct davit_schema;

namespace davit::host {

// INVALID_ARGUMENT: `where` is the path of the field. null means absent. Equal JSON gives equal
// bytes.
Result<std::string> from_json(const davit_schema&, std::string_view type, std::string_view json);

}  // namespace davit::host

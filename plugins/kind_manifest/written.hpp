// What can be seen only in the text of a message, before it is parsed: how deep it is nested, and
// whether every number arrives in the cluster as it was written. Pure.
#pragma once

#include <string_view>

#include <davit/types.hpp>

namespace davit::manifest {

// An object in a message may be nested so deep. The parsers of agent and cluster take more, but
// Kubernetes notes the owner of each field in a tree of its own, which is deeper.
inline constexpr int depth_max = 24;

// INVALID_ARGUMENT names the object: "objects[3]". A text that is not JSON is no fault here.
Result<> check_written(std::string_view message);

}  // namespace davit::manifest

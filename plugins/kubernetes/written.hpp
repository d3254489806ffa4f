// What can be seen only in the text of a message that carries JSON of others: how deep it is
// nested, and whether every number arrives in the cluster as it was written. Pure.
#pragma once

#include <string_view>

#include <davit/types.hpp>

namespace davit::kubernetes {

// An object of Kubernetes may be nested so deep. The parsers of agent and cluster take more, but
// Kubernetes notes the owner of each field in a tree of its own, which is deeper.
inline constexpr int object_depth_max = 24;

// `depth_max`: levels of each member of the message that is an object, and of each element of one
// that is a list. INVALID_ARGUMENT names it: "provider_spec", "objects[3]". A text that is not JSON
// is no fault here.
Result<> check_written(std::string_view message, int depth_max);

}  // namespace davit::kubernetes

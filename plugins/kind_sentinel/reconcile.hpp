// The centre of the kind: takes the desired message and the observed objects, and answers with the
// objects to apply, the objects to delete and a status. It is level-based: it looks at the present
// state and never at events. Pure.
#pragma once

#include <string>
#include <string_view>

#include "sentinel.hpp"

namespace davit::sentinel {

// Input and output are as in abi/kind.h.
Result<std::string> reconcile(std::string_view input, const Site& site);

}  // namespace davit::sentinel

// The heart: desired message and observed objects in, objects to apply and to delete and a status
// out. Level-based: it looks at what is, never at what happened.
#pragma once

#include <string>
#include <string_view>

#include "sentinel.hpp"

namespace davit::sentinel {

// Input and output as abi/kind.h has them.
Result<std::string> reconcile(std::string_view input, const Site& site);

}  // namespace davit::sentinel

// Compares a manifest with what the cluster has of it. The plugin calls these functions. They are
// pure: JSON in, JSON out.
#pragma once

#include <string>
#include <string_view>

#include "manifest.hpp"

namespace davit::manifest {

Result<std::string> reconcile(std::string_view input, const Site&);
Result<Named> attribute(std::string_view object);

}  // namespace davit::manifest

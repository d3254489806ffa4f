// The rights that the controller needs in the management cluster. Pure.
#pragma once

#include <vector>

#include "kubernetes/rights.hpp"
#include "settings.hpp"

namespace davit::clusters {

std::vector<kubernetes::Right> rights_of(const Configuration& configuration);

}  // namespace davit::clusters
